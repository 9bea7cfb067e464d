"""How soon the command line answers: ``rankinite --help``, and ``rankinite evaluate`` on a small file.

    python benchmarks/startup.py [--rounds 15]

Whole processes are timed, from start to end, in turn. What is compiled is in Numba's cache, and what is read in the page
cache: one round before those that count sees to that.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from _measure import SCRATCH, Runs, machine, race, sized, write_section

COMMANDS = {
    "rankinite --help": ["--help"],
    "rankinite train --help": ["train", "--help"],
    "rankinite evaluate, a feature": ["evaluate", "feature:1", "{data}"],
    "rankinite evaluate, 100 trees": ["evaluate", "{model}", "{data}"],
    "rankinite score, 100 trees": ["score", "{model}", "{data}"],
    "import numba, nothing else": [],
}
LIMITS = {"rankinite --help": 0.4, "rankinite evaluate, a feature": 1.5, "rankinite evaluate, 100 trees": 1.5}
"""Seconds that are promised."""


def command(name: str, data: Path, model: Path) -> list[str]:
    """The process to be timed."""
    if not COMMANDS[name]:
        return [sys.executable, "-c", "import numba"]
    installed = shutil.which("rankinite", path=str(Path(sys.executable).parent))
    start = [installed] if installed else [sys.executable, "-c", "from rankinite.cli import main; main()"]
    return [*start, *(word.format(data=data, model=model) for word in COMMANDS[name])]


def run(name: str, data: Path, model: Path) -> None:
    # With bytecode, as everybody has it who does not forbid it.
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(command(name, data, model), stdout=subprocess.DEVNULL, check=True, env=environment)


def contend(name: str, data: Path, model: Path) -> None:
    started = time.perf_counter()
    run(name, data, model)
    print(json.dumps({"seconds": time.perf_counter() - started}))


def make_files() -> tuple[Path, Path]:
    import rankinite as rk

    SCRATCH.mkdir(exist_ok=True)
    data, model = SCRATCH / "startup.txt", SCRATCH / "startup.rankinite"
    judged = rk.synthesise(100, world=rk.World(documents=20, features=20))
    rk.write(judged, data)
    rk.LambdaMART.plain(trees=100, leaves=8).fit(judged).save(model)
    return data, model


def table(contenders: list[Runs]) -> str:
    lines = ["| command | best s | median s | promised s |", "|---|---:|---:|---:|"]
    lines += [f"| {runs.name} | {runs.best:.3f} | {runs.median:.3f} | {LIMITS.get(runs.name, '')} |" for runs in contenders]
    return "\n".join(lines)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=sized(15, 1))
    options.add_argument("--dry", action="store_true", help="print the table instead of writing it to RESULTS.md")
    options.add_argument("--contender", choices=COMMANDS, help=argparse.SUPPRESS)
    options.add_argument("--files", type=Path, nargs=2, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.contender:
        contend(chosen.contender, *chosen.files)
        return
    data, model = make_files()
    for name in COMMANDS:  # warm
        run(name, data, model)
    contenders, others = race(__file__, list(COMMANDS), ["--files", str(data), str(model)], chosen.rounds)
    text = (
        f"{machine(['rankinite', 'typer', 'numba', 'numpy', 'scipy'])}\n\n"
        f"Whole processes, {chosen.rounds} rounds in turn, compiled code and files warm; the data are 100 queries of 20 "
        f"documents with 20 features, in LETOR text. Others used {others:.0%} of the machine meanwhile.\n\n{table(contenders)}"
    )
    if chosen.dry:
        print(text)
    else:
        write_section("Starting (benchmarks/startup.py)", text)


if __name__ == "__main__":
    main()
