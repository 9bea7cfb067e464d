"""The campaign from a shell: ``python -m fuzz --minutes 30``."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fuzz import campaign


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--only", nargs="*", metavar="TARGET", help="Only these targets.")
    parser.add_argument("--peers", action="store_true", help="Give their inputs to LightGBM and XGBoost instead.")
    parser.add_argument("--seed", type=int, help="One input alone, with its outcome; it is kept in --keep.")
    parser.add_argument("--keep", type=Path, help="Where the input of --seed is written.")
    parser.add_argument("--first", type=int, default=0, help="The first seed.")
    parser.add_argument("--batch", type=int, default=200, help="Inputs per child process.")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--child", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        campaign.work(options.child)
        return
    names = options.only or list(campaign.peer_targets() if options.peers else campaign.targets())
    if options.seed is not None:
        folder = options.keep or Path(tempfile.mkdtemp())
        folder.mkdir(parents=True, exist_ok=True)
        print(
            *campaign.outcome_of((campaign.targets() | campaign.peer_targets())[names[0]], options.seed, folder),
            f"input in {folder}",
            sep="\n",
        )
        return
    until = time.monotonic() + 60 * options.minutes
    shares = [names[number :: options.processes] for number in range(options.processes)]
    plan = {"first": options.first, "batch": options.batch, "until": until}
    plan["waits"] = campaign.PEER_WAITS if options.peers else campaign.WAITS
    with ThreadPoolExecutor(options.processes) as pool:
        running = [pool.submit(campaign.run, share, **plan) for share in shares if share]
        found = campaign.Results()
        for one in running:
            found.counts |= one.result().counts
            found.bad += one.result().bad
    print(found.table(), *found.bad, sep="\n")
    sys.exit(1 if found.bad else 0)


if __name__ == "__main__":
    main()
