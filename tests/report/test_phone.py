"""The report on a narrow screen, and what is drawn of few queries and up to the measure's cutoff."""

from __future__ import annotations

import uuid
from dataclasses import replace

import numpy as np
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

import rankinite as rk
from rankinite.report import of_comparison, of_cross_validation, of_explanation
from rankinite.report.html import tab_title

PHONE = 390
OUTSIDE = """
  const wide = document.documentElement.clientWidth + 1;
  const shown = [...document.querySelectorAll(arguments[0])].filter((one) => one.getClientRects().length);
  return shown.filter((one) => one.getBoundingClientRect().right > wide || one.scrollWidth > one.clientWidth + 1)
    .map((one) => one.outerHTML.slice(0, 200));
"""
"""What does not fit: elements that reach over the edge of the page, or hold more than is seen of them."""
LINES = """
  return [...document.querySelectorAll(".id")].map((one) => {
    const text = one.querySelector("summary") || one;
    return Math.round(text.getBoundingClientRect().height / parseFloat(getComputedStyle(text).lineHeight));
  });
"""


@pytest.fixture(scope="module")
def exported():
    """A comparison on data as a company has them: UUIDs for queries and documents, among them long addresses."""
    data = rk.synthesise(9, world=rk.World(documents=14, features=3, noise=0.3))
    rng = np.random.default_rng(0)
    names = [str(uuid.UUID(bytes=rng.bytes(16))) for _ in range(data.rows + data.queries)]
    address = "https://shop.example/produkte/garten/werkzeug/scheren/rosenschere-mit-ersatzklinge-und-tasche-{}.html"
    documents = [address.format(row) if row % 4 == 0 else names[row] for row in range(data.rows)]
    qids = np.asarray(names[data.rows :])
    data = replace(data, qids=qids, doc_ids=np.asarray(documents), source="/srv/exports/market.csv")
    systems = {"column": rk.Feature(0), "grades": data.grades}
    comparison = rk.compare(systems, data, ["ndcg@5", "err"], resamples=100)
    return of_comparison(comparison, data, systems)


def open_first_query(browser):
    browser.find_element(By.CSS_SELECTOR, ".queries summary").send_keys(Keys.ENTER)
    WebDriverWait(browser, 5).until(lambda b: b.find_elements(By.CSS_SELECTOR, ".queries details[open] td"))


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_methods_are_cards_that_fit(opened, adapted, colours):
    browser, table = opened(adapted, PHONE, colours), adapted.tables[0]
    cards = browser.find_elements(By.CSS_SELECTOR, "#methods > div:first-of-type tbody tr")
    assert [card.find_element(By.CLASS_NAME, "name").text for card in cards] == [one.name for one in table.systems]
    for card, system in zip(cards, table.systems, strict=True):
        text = card.text.replace("\u2212", "-")
        assert system.what in text
        assert system.results[0].spread in text
        assert all(f"{gain.wins} · {gain.ties} · {gain.losses}" in text for gain in system.gains if gain)
        assert (card.size["width"], card.value_of_css_property("display")) == (cards[0].size["width"], "grid")
    labels = browser.execute_script(
        "return [...arguments[0].querySelectorAll('td')].map((cell) => getComputedStyle(cell, '::before').content)", cards[1]
    )
    assert {f'"{name}"' for name in (*table.measures, *(f"over {base}" for base in table.baselines))} <= set(labels)
    assert browser.execute_script(OUTSIDE, "#methods .scroll, #methods td, #methods .name") == []


def test_cards_sort_as_the_table_does_and_remain_a_table_to_those_who_hear_it(opened, adapted):
    browser, table = opened(adapted, PHONE), adapted.tables[0]
    sort = browser.find_element(By.XPATH, "//section[@id='methods']//th/button[text()='method']")
    sort.click()
    shown = [name.text for name in browser.find_elements(By.CSS_SELECTOR, "#methods > div:first-of-type tbody .name")]
    assert shown == sorted(one.name for one in table.systems)
    first = browser.find_element(By.CSS_SELECTOR, "#methods table")
    assert first.aria_role == "table"
    assert {cell.aria_role for cell in first.find_elements(By.CSS_SELECTOR, "td:not(:empty)")} == {"cell"}


def test_on_a_wide_page_they_are_rows_of_a_table(opened, adapted):
    browser = opened(adapted, 1100)
    assert browser.find_element(By.CSS_SELECTOR, "#methods tbody tr").value_of_css_property("display") == "table-row"
    assert not browser.find_element(By.CSS_SELECTOR, "#methods .what").is_displayed()
    assert browser.find_element(By.CSS_SELECTOR, "#methods td.plot svg").is_displayed()


@pytest.mark.parametrize("width", [PHONE, 1100])
def test_ids_of_documents_take_two_lines_at_most_and_open_to_the_whole(opened, exported, width):
    browser = opened(exported, width)
    open_first_query(browser)
    assert max(browser.execute_script(LINES)) <= 2
    assert browser.execute_script(OUTSIDE, ".inside .scroll, .inside td, .inside .id") == []
    ids = [one for one in exported.queries.documents.ids if one.startswith("https")]
    folded = browser.find_element(By.CSS_SELECTOR, "details.id")
    assert ids[0] not in folded.text
    folded.find_element(By.TAG_NAME, "summary").send_keys(Keys.ENTER)
    assert any(one in folded.text.replace("\n", "") for one in ids)
    short = [one.text for one in browser.find_elements(By.CSS_SELECTOR, ".id.whole")]
    assert short
    assert set(short) <= set(exported.queries.documents.ids)


def test_the_cutoff_of_the_measure_is_a_line_in_the_grades(opened, exported):
    browser = opened(exported, PHONE)
    open_first_query(browser)
    assert exported.queries.cutoff == 5
    for strip in browser.find_elements(By.CSS_SELECTOR, ".strip"):
        kinds = [part.get_attribute("class") for part in strip.find_elements(By.CSS_SELECTOR, "span")]
        assert kinds.index("cutoff") == 5
        assert kinds.count("cutoff") == 1
    assert "ndcg@5 counts the first 5" in browser.find_element(By.CSS_SELECTOR, ".inside .notes").text
    whole = replace(exported, queries=replace(exported.queries, cutoff=None))
    open_first_query(opened(whole, PHONE))
    assert browser.find_elements(By.CSS_SELECTOR, ".cutoff") == []


def test_few_queries_are_dots_and_many_an_area(opened, exported, adapted):
    browser = opened(exported)
    dots = WebDriverWait(browser, 5).until(lambda b: b.find_elements(By.CSS_SELECTOR, "#queries svg .query"))
    heights = [float(dot.get_attribute("cy")) for dot in dots]
    assert len(dots) == len(exported.queries.qids) < 15
    assert heights == sorted(heights)  # the largest gain first, and highest
    browser = opened(adapted)
    WebDriverWait(browser, 5).until(lambda b: b.find_elements(By.CSS_SELECTOR, "#queries svg path"))
    assert len(adapted.queries.qids) >= 15
    assert browser.find_elements(By.CSS_SELECTOR, "#queries svg .query") == []


def test_a_table_that_must_be_moved_fades_where_it_goes_on(opened, adapted):
    lines = tuple(replace(adapted.curve.lines[0], name=f"a method with the number {k}") for k in range(9))
    browser = opened(replace(adapted, curve=replace(adapted.curve, lines=(*adapted.curve.lines, *lines))), PHONE)
    browser.execute_script("document.querySelector('#curve details.data').open = true")
    box = WebDriverWait(browser, 5).until(lambda b: b.find_element(By.CSS_SELECTOR, "#curve .scroll.more-right"))
    assert "gradient" in box.value_of_css_property("mask-image")
    browser.execute_script("arguments[0].scrollLeft = 1e6", box)
    WebDriverWait(browser, 5).until(lambda b: "more-right" not in box.get_attribute("class"))


def test_the_title_names_the_method_and_the_data(opened, adapted, exported, choice, market):
    source = market[2].source
    assert opened(adapted).title == f"{choice.name} · {source} · Adaptation"
    assert opened(exported).title == "grades · market.csv · Comparison"
    assert tab_title(replace(adapted, tables=())) == "Adaptation"


def test_folds_and_explanations_are_drawn_with_their_numbers(opened, market):
    background, web, *_ = market
    hostile = "</script><b>trees"
    learners = {hostile: rk.LambdaMART.plain(trees=3, leaves=4, min_rows=3), "points": rk.MART(trees=3, leaves=4, min_rows=3)}
    report = of_cross_validation(rk.cross_validate(learners, web, 3), web, 3)
    browser = opened(report, PHONE, "dark")
    dots = WebDriverWait(browser, 5).until(lambda b: b.find_elements(By.CSS_SELECTOR, "#folds svg .fold"))
    assert len(dots) == 3 * len(learners)
    assert browser.execute_script("return document.querySelectorAll('main script, main b').length") == 0
    label = browser.find_element(By.CSS_SELECTOR, "#folds svg").get_attribute("aria-label")
    assert all(f"best in {count} fold" in label for count in report.folds.best_in)
    found = background.explain(web, str(web.qids[0]), above=0, below=1)
    report = of_explanation(found, web, ranker=background)
    browser = opened(report, PHONE)
    bars = WebDriverWait(browser, 5).until(lambda b: b.find_elements(By.CSS_SELECTOR, "#explained svg rect"))
    assert len(bars) == len(report.explained.features)
    shown = [row.text for row in browser.find_elements(By.CSS_SELECTOR, "#explained tbody tr")]
    assert all(one.name in text for one, text in zip(report.explained.features, shown, strict=True))
    assert browser.execute_script("return document.documentElement.scrollWidth") <= PHONE
