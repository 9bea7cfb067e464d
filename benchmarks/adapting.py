"""How long ``rankinite adapt`` takes on real data, with every method: mq2008 as the target, mq2007 as the background.

    RANKINITE_DATA=… python benchmarks/adapting.py [--threads 2]

Parts 1 to 3 of mq2008 are the target, part 5 is the test, and all of mq2007 is the background's data, which its ranker was
trained on (300 trees of 12 leaves). The whole command is timed, from the start of the process to its end, with a warm cache of
Numba's: it runs on the first few queries before. What each method takes is what the command itself says.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _measure import SCRATCH, machine, sized, write_section

LIMIT = 600
"""Seconds in which everything should be done."""
FEW = sized(30, 10)
SHAPE = ("--trees", sized("300", "10"), "--leaves", "12", "--rate", "0.05")
SHARED = "All folds are fitted for every method; what several share is counted where it is first needed."


def rankinite(*words: str | Path) -> str:
    """What the command prints; progress is shown as it goes."""
    installed = shutil.which("rankinite", path=str(Path(sys.executable).parent))
    start = [installed] if installed else [sys.executable, "-c", "from rankinite.cli import main; main()"]
    return subprocess.run([*start, *map(str, words)], stdout=subprocess.PIPE, check=True, text=True).stdout


def files() -> dict[str, Path]:
    """The data, each in one file, and the background."""
    import rankinite as rk

    folder = Path(os.environ["RANKINITE_DATA"])

    def joined(name: str, *parts: int) -> rk.Dataset:
        return rk.concat([rk.read(folder / name / f"S{part}.txt.gz") for part in parts])

    SCRATCH.mkdir(exist_ok=True)
    made = {name: SCRATCH / f"adapting-{name}.parquet" for name in ("train", "test", "background", "few")}
    rk.write(target := joined("mq2008", 1, 2, 3), made["train"])
    rk.write(target.select_queries(range(FEW)), made["few"])
    rk.write(joined("mq2008", 5), made["test"])
    rk.write(joined("mq2007", 1, 2, 3, 4, 5), made["background"])
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    threads = ("--threads", str(parser.parse_args().threads))
    if not os.environ.get("RANKINITE_DATA"):
        print("RANKINITE_DATA does not name a folder with the data: nothing is measured.")
        return
    data, model = files(), SCRATCH / "adapting.rankinite"
    rankinite("train", data["background"], *SHAPE, *threads, "--out", model)
    with tempfile.TemporaryDirectory() as home:
        others = ("--background-data", data["background"], "--test", data["test"], *threads, "--json")
        rankinite("adapt", model, "--train", data["few"], *others, "--no-curve", "--out", Path(home, "few"))
        started = time.perf_counter()
        found = json.loads(rankinite("adapt", model, "--train", data["train"], *others, "--out", Path(home, "all")))
        elapsed = time.perf_counter() - started
    methods = {name: own["seconds"] for name, own in found["methods"].items() if name != "average"}
    inputs = {name: found["inputs"][name] for name in ("train", "background_data", "test")}
    sizes = ", ".join(f"{name.replace('_', ' ')} {own['queries']} queries, {own['rows']} rows" for name, own in inputs.items())
    rows = [f"| {name} | {seconds:.1f} |" for name, seconds in methods.items()]
    rest = found["seconds"] - sum(methods.values())
    text = [
        machine(["rankinite", "numba", "numpy"]),
        "",
        f"{sizes}; {threads[1]} thread(s). {SHARED}",
        "",
        "| | seconds |",
        "|---|--:|",
        *rows,
        f"| the average, all tests and the learning curve | {rest:.1f} |",
        f"| starting, reading, writing model, report and evidence | {elapsed - found['seconds']:.1f} |",
        f"| **all** | **{elapsed:.1f}** |",
        "",
        f"It should take less than {LIMIT} s: {'holds' if elapsed < LIMIT else 'does not hold'}. Chosen: {found['chosen']}.",
    ]
    write_section("The whole of adapt: mq2007 to mq2008", "\n".join(text))
    print("\n".join(text))


if __name__ == "__main__":
    main()
