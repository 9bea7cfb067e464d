"""How large a report is, and how long a browser takes to open it: 5,000 queries with 50 documents each.

The time is the browser's own, from the start of the navigation to the end of the load event, by when the page has made all its
parts; the drawings follow in the next frame. Needs chromium and chromedriver.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np

import rankinite as rk
from _measure import SCRATCH, machine, sized, write_section
from rankinite.report import of_comparison, write

QUERIES, DOCUMENTS, ROUNDS = sized((5000, 50, 5), (50, 10, 1))
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")
LOADED = 'return performance.getEntriesByType("navigation")[0].loadEventEnd'


def made(path: Path, long_ids: bool) -> tuple[float, float]:
    """Write the report; seconds for its content, and for the files."""
    data = rk.synthesise(QUERIES, world=rk.World(documents=DOCUMENTS, features=5), doc_ids=True)
    if long_ids:
        data = rk.Dataset(
            features=data.features,
            grades=data.grades,
            offsets=data.offsets,
            qids=data.qids,
            feature_names=data.feature_names,
            doc_ids=np.asarray([f"https://www.example.org/some/folder/of/pages/{name}.html" for name in data.doc_ids.tolist()]),
        )
    rng = np.random.default_rng(0)
    systems = {name: data.grades + rng.normal(0, noise, data.rows) for name, noise in (("before", 2.0), ("after", 1.5))}
    comparison = rk.compare(systems, data, "ndcg@10", resamples=1000)
    start = time.perf_counter()
    report = of_comparison(comparison, data, systems)
    built = time.perf_counter()
    write(report, path)
    return built - start, time.perf_counter() - built


def opened(path: Path) -> float:
    """Milliseconds to the load event: the median of several visits, each by a fresh browser."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    found: list[float] = []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as profile:
            options = webdriver.ChromeOptions()
            options.binary_location = shutil.which("chromium") or ""
            for flag in (*FLAGS, f"--user-data-dir={profile}"):
                options.add_argument(flag)
            browser = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
            try:
                browser.get(path.as_uri())
                time.sleep(0.5)
                found.append(browser.execute_script(LOADED))
            finally:
                browser.quit()
    return median(found)


def main() -> None:
    if shutil.which("chromium") is None or shutil.which("chromedriver") is None:
        print("report: chromium and chromedriver are not installed, so there is nothing to measure with")
        return
    SCRATCH.mkdir(exist_ok=True)
    path = SCRATCH / "report.html"
    lines = [
        "| document ids | HTML, MB | content, s | files, s | load event, ms |",
        "|---|---|---|---|---|",
    ]
    for name, long_ids in (("short (9 letters)", False), ("addresses (about 60 letters)", True)):
        built, written = made(path, long_ids)
        load = opened(path)
        size = path.stat().st_size / 1e6
        lines.append(f"| {name} | {size:.1f} | {built:.2f} | {written:.2f} | {load:.0f} |")
        print(lines[-1], flush=True)
    told = (
        f"A report on {QUERIES:,} queries with {DOCUMENTS} documents each, opened {ROUNDS} times by a fresh headless Chromium."
    )
    limits = "Where ids are long, a query keeps the documents ranked first, before or after, and no others; the page says so."
    write_section("Report", "\n".join([machine(["numpy", "selenium"]), "", told, limits, "", *lines]))


if __name__ == "__main__":
    main()
