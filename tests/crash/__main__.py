"""The campaign from a shell: ``python -m crash --minutes 10``."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from crash.campaign import Campaign


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m crash", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--signals", type=int, default=10**9, help="Stop after so many.")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        campaign = Campaign(Path(folder))
        tally = campaign.run(seed=options.seed, until=time.monotonic() + 60 * options.minutes, signals=options.signals)
    print(tally.table(), *tally.problems, sep="\n")
    sys.exit(1 if tally.problems else 0)


if __name__ == "__main__":
    main()
