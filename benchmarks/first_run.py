"""How long the first commands on a machine take: from an installed wheel, with nothing compiled, to a model and a figure.

    python benchmarks/first_run.py [--before COMMIT] [--rounds 3]

A wheel is built and installed into a folder of its own; every run has an empty folder for compiled kernels, or that of the
run before it ("second"). Whole processes are timed from outside, in turn. With --before the wheel of an earlier commit takes
turns with this one. Data are 200 + 100 queries of 20 documents with 50 features, in LETOR text; models have 100 trees.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

from _measure import SCRATCH, machine, sized, write_section

ROOT = Path(__file__).parents[1]
COMMANDS = {
    "train": ["train", "train.txt", "--valid", "valid.txt", "--out", "new.rankinite", "--trees", "100"],
    "evaluate": ["evaluate", "model.rankinite", "valid.txt"],
    "warm-up": ["warm-up"],
}
TIMED = sized(tuple(COMMANDS), ("evaluate",))
START = "from rankinite.cli import main; main()"
AIMS = {"train": 15.0, "evaluate": 4.0}
"""Seconds that a first run may take."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", help="a commit whose wheel takes turns with this one")
    parser.add_argument("--rounds", type=int, default=sized(3, 1))
    parser.add_argument("--dry", action="store_true", help="print the table instead of writing it to RESULTS.md")
    given = parser.parse_args()
    folder = SCRATCH / "first-run"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    make_files(folder)
    sites = {"now": installed(ROOT, folder / "now")}
    if given.before:
        sites = {"before": installed(checked_out(given.before, folder / "sources"), folder / "before"), **sites}
    seconds: dict[tuple[str, str, str], list[float]] = {}
    for _ in range(given.rounds):
        for verb in TIMED:
            for name, site in sites.items():
                if verb == "warm-up" and name == "before":
                    continue
                kernels = folder / "kernels"
                shutil.rmtree(kernels, ignore_errors=True)
                for turn in ("first", "second"):
                    took = timed(verb, site, kernels, folder)
                    seconds.setdefault((verb, turn, name), []).append(took)
                    print(f"{name:8} {turn:8} {verb:10} {took:6.2f} s", flush=True)
    text = table(seconds, list(sites))
    about = " ".join((__doc__ or "").split("\n\n")[2].split())
    before = f" Before: commit {given.before}." if given.before else ""
    section = f"{machine(['numba', 'llvmlite', 'numpy'])}\n\n{about}{before} {given.rounds} rounds.\n\n{text}"
    if given.dry:
        print(section)
    else:
        write_section("The first run (benchmarks/first_run.py)", section)


def make_files(folder: Path) -> None:
    import rankinite as rk

    world = rk.World(documents=20, features=50)
    for part, queries in (("train", 200), ("valid", 100)):
        rk.write(rk.synthesise(queries, part=part, world=world), folder / f"{part}.txt")
    rk.LambdaMART(trees=100).fit(rk.read(folder / "train.txt")).save(folder / "model.rankinite")


def checked_out(commit: str, folder: Path) -> Path:
    """The sources of a commit."""
    folder.mkdir()
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive, check=True)
    return folder


def installed(sources: Path, folder: Path) -> Path:
    """A folder with the wheel of these sources installed, bytecode included."""
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    wheels = folder / "wheels"
    subprocess.run([*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(wheels), str(sources)], check=True)
    wheel = next(wheels.glob("rankinite-*.whl"))
    site = folder / "site"
    subprocess.run([*pip, "install", "--no-deps", "--compile", "--target", str(site), str(wheel)], check=True)
    return site


def timed(verb: str, site: Path, kernels: Path, folder: Path) -> float:
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("NUMBA_", "PYTHON"))}
    environment |= {"PYTHONPATH": str(site), "NUMBA_CACHE_DIR": str(kernels)}
    (folder / "new.rankinite").unlink(missing_ok=True)
    command = [sys.executable, "-P", "-c", START, *COMMANDS[verb], "--quiet"]
    started = time.perf_counter()
    subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started


def table(seconds: dict[tuple[str, str, str], list[float]], names: list[str]) -> str:
    heads = [f"{name}, median s (lowest to highest)" for name in names]
    lines = ["| | " + " | ".join([*heads, "aim"]) + " |", "|---|" + "--:|" * (len(names) + 1)]
    for verb in TIMED:
        for turn in ("first", "second"):
            cells = [seconds.get((verb, turn, name)) for name in names]
            shown = [f"{statistics.median(c):.1f} ({min(c):.1f} to {max(c):.1f})" if c else "" for c in cells]
            aim = f"{AIMS[verb]:g}" if turn == "first" and verb in AIMS else ""
            lines.append("| " + " | ".join([f"{turn} `{verb}`", *shown, aim]) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
