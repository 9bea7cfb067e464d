"""Reports to look at: of a small choice, and of hostile names; and the browser that shows them."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace

import numpy as np
import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

import rankinite as rk
from rankinite.report import of_choice, of_comparison, write

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)

HOSTILE = (
    "<script>document.title = 'broken'</script>",
    "</script><img src=x onerror=\"document.title = 'broken'\">",
    "a \"quoted\" 'name' & <b>bold</b>",
    "line\u2028and\u2029paragraph {{program}} <!--",
)
"""Names that would break a page that took them for HTML or for a program."""


@pytest.fixture(scope="session")
def hostile_data():
    """Queries, documents, features and a file, all with hostile names; the last queries have others."""
    rng = np.random.default_rng(5)
    queries, documents = 30, 8
    grades = rng.integers(0, 4, queries * documents)
    names = [*HOSTILE, *(f"query {number}" for number in range(len(HOSTILE), queries))]
    return rk.Dataset.from_rows(
        np.column_stack([grades + rng.normal(0, noise, len(grades)) for noise in (3.0, 2.0, 1.0, 0.5)]),
        grades,
        np.repeat(names, documents),
        HOSTILE,
        doc_ids=np.asarray([f"{HOSTILE[row % 4]} {row}" for row in range(len(grades))]),
        source=HOSTILE[1],
    )


@pytest.fixture(scope="session")
def hostile(hostile_data):
    """A comparison of rankers with hostile names."""
    rankers = {
        HOSTILE[0]: rk.Feature(0),
        HOSTILE[1]: rk.LambdaMART.plain(trees=5, leaves=4, min_rows=5).fit(hostile_data),
        "last": rk.Feature(3),
    }
    comparison = rk.compare(rankers, hostile_data, ["ndcg@5", "err"], resamples=200)
    facts = {HOSTILE[2]: {HOSTILE[3]: HOSTILE[0]}}
    return of_comparison(comparison, hostile_data, rankers, after=HOSTILE[1], facts=facts, title=HOSTILE[1])


@pytest.fixture(scope="session")
def market():
    """A background ranker with the data it comes from, and target, validation and test data of another domain."""
    world = rk.World(documents=8, features=5, noise=0.3)
    web, target, valid, test = (
        rk.synthesise(queries, part=part, domain=domain, world=world, doc_ids=True)
        for queries, part, domain in ((60, "train", 0), (20, "train", 1), (12, "valid", 1), (25, "test", 1))
    )
    background = rk.LambdaMART.plain(trees=12, leaves=6, min_rows=5, rate=0.3).fit(web, valid)
    return background, web, target, valid, replace(test, source="test.txt")


@pytest.fixture(scope="session")
def tuned(market):
    """A search in which some settings are refused and some dropped."""
    web, test = market[1], market[4]
    space = {
        "rate": {"low": 0.001, "high": 0.5, "log": True},
        "row_share": {"low": 0.5, "high": 1.0},
        "leaves": [2, 4],
        "min_rows": [3, 5, 8, 10**6],
    }
    learner = rk.LambdaMART.plain(trees=8, min_rows=3, patience=3)
    return rk.tune(learner, web, space=space, folds=3, trials=24, sampler="random", generation=8, test=test)


@pytest.fixture(scope="session")
def choice(market):
    background, _, target, valid, test = market
    methods = ["lambdaboost", "trada-splits", "additive", "average"]
    return rk.adapt.choose(background, target, valid, test=test, methods=methods, also=["err"])


@pytest.fixture(scope="session")
def adapted(choice, market):
    _, _, target, valid, test = market
    return of_choice(choice, target, test=test, data={"valid": valid}, facts={"Run": {"command": "rankinite adapt", "seed": 0}})


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """Headless Chromium."""
    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if binary is None or driver is None:
        assert not os.environ.get("CI"), "chromium and chromedriver must be there: apt install chromium chromium-driver"
        pytest.skip("chromium and chromedriver are not installed: apt install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    chromium = webdriver.Chrome(options=options, service=Service(driver))
    yield chromium
    chromium.quit()


@pytest.fixture
def opened(browser, tmp_path):
    """Open a report in a window of some width, and check in the end that the page complained of nothing."""

    def show(report, width=1100, colours="light", media="screen"):
        write(report, tmp_path / "report.html")
        size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        browser.execute_cdp_cmd(
            "Emulation.setEmulatedMedia",
            {"media": media, "features": [{"name": "prefers-color-scheme", "value": colours}]},
        )
        browser.get((tmp_path / "report.html").as_uri())
        return browser

    browser.get_log("browser")
    yield show
    assert browser.get_log("browser") == []
