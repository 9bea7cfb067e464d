"""The report as a browser shows it: headless Chromium, driven by Selenium."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

import rankinite as rk
from rankinite.ensembles import diversity
from rankinite.grid import spread
from rankinite.report import of_comparison, of_ensemble, of_training, of_tuning
from rankinite.report.html import tab_title

pytestmark = pytest.mark.tools("chromium and chromedriver")


def first_table(browser, selector):
    return browser.find_element(By.CSS_SELECTOR, "#methods table").find_elements(By.CSS_SELECTOR, selector)


def contrasts(browser, pairs: str) -> dict[str, float]:
    """Contrasts as the web's guidelines count them; ``pairs``: a program that gives names, each with two colours."""
    found = browser.execute_script(
        """
        const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 });
        const pen = canvas.getContext("2d", { willReadFrequently: true });
        const light = (colour) => {
          const linear = (x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
          pen.fillStyle = colour;
          pen.fillRect(0, 0, 1, 1);
          const [r, g, b] = [...pen.getImageData(0, 0, 1, 1).data].map((x) => linear(x / 255));
          return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
        };
        const style = (element) => getComputedStyle(typeof element === "string" ? document.querySelector(element) : element);
        const ground = style("body").backgroundColor;
        """
        f"return (() => {{ {pairs} }})().map(([name, one, other]) => [name, light(one) / light(other)]);"
    )
    return {name: max(ratio, 1.0 / ratio) for name, ratio in found}


READABLE = 4.5
"""The least contrast of letters with their ground, by level AA of the guidelines."""
GROUNDS = [("light", "screen"), ("dark", "screen"), ("dark", "print")]


def test_every_part_is_drawn(opened, adapted):
    browser = opened(adapted)
    assert browser.find_element(By.TAG_NAME, "h1").text == adapted.verdict[0]
    shown = [part.get_attribute("id") for part in browser.find_elements(By.TAG_NAME, "section")]
    assert shown == ["methods", "serving", "curve", "queries", "grades", "training", "importance", "moved", "repeat"]
    drawings = WebDriverWait(browser, 5).until(lambda b: b.find_elements(By.CSS_SELECTOR, "figure svg"))
    assert len(drawings) == len(browser.find_elements(By.TAG_NAME, "figure"))
    assert all(drawing.get_attribute("aria-label") for drawing in drawings)


def test_one_sentence_leads_and_what_the_other_numbers_mean_is_folded_away(opened, adapted):
    browser = opened(adapted)
    head = browser.find_element(By.TAG_NAME, "header")
    folded = head.find_element(By.CSS_SELECTOR, "details.meaning")
    assert folded.get_attribute("open") is None
    assert all(text not in head.text for text in ("interval", "p-value"))
    folded.find_element(By.TAG_NAME, "summary").click()
    shown = [part.text.replace("\u2212", "-") for part in folded.find_elements(By.TAG_NAME, "p")]
    assert shown == list(adapted.explanation)


def test_the_verdict_then_one_number_then_the_figures_of_its_source_then_those_of_others(opened, adapted):
    head = opened(adapted).find_element(By.TAG_NAME, "header")
    told = [part.text.replace("\u2212", "-") for part in head.find_elements(By.CSS_SELECTOR, "h1, .told, .reasons p")]
    assert told == [text.replace("\u2212", "-") for text in adapted.verdict]
    groups = [("", adapted.figures_title, adapted.figures)]
    groups += [(".others ", group.title, group.figures) for group in adapted.other_figures]
    for place, title, figures in groups:
        assert head.find_element(By.CSS_SELECTOR, f"{place}.source").text == title
        shown = head.find_element(By.CSS_SELECTOR, f"{place}.figures").find_elements(By.CSS_SELECTOR, "dd")
        assert [value.text.replace("\u2212", "-") for value in shown] == [f"{one.value}\n{one.note}" for one in figures]


def test_marks_are_explained_once_and_baselines_and_the_ranker_to_deploy_are_marked(opened, adapted):
    browser = opened(adapted)
    text = browser.find_element(By.ID, "methods").text
    for mark in {mark for table in adapted.tables for mark in table.marks}:
        assert text.count(mark) == 1
    rows = first_table(browser, "tbody tr")
    tagged = {row.find_element(By.CLASS_NAME, "name").text for row in rows if row.find_elements(By.CLASS_NAME, "tag")}
    assert tagged == set(adapted.tables[0].baselines)
    serving = browser.find_elements(By.CSS_SELECTOR, "#serving tbody tr")
    assert [row.find_element(By.CLASS_NAME, "name").text for row in serving] == [one.name for one in adapted.serving.rankers]
    deployed = [row.text for row in serving if row.find_elements(By.CLASS_NAME, "tag")]
    assert len(deployed) == 1
    assert f"{adapted.serving.rankers[0].microseconds:.1f}" in serving[0].text


def test_what_shuffling_costs_is_drawn_with_its_numbers(opened, adapted):
    browser, losses = opened(adapted), adapted.losses
    WebDriverWait(browser, 5).until(lambda b: len(b.find_elements(By.CSS_SELECTOR, "#importance figure svg")) == 2)
    numbers = browser.find_elements(By.CSS_SELECTOR, "#importance figure")[1].find_elements(By.CSS_SELECTOR, "tbody tr")
    cells = [[cell.get_attribute("textContent") for cell in row.find_elements(By.TAG_NAME, "td")] for row in numbers]
    assert [row[0] for row in cells] == list(losses.features)
    assert [float(row[1].replace("\u2212", "-")) for row in cells] == pytest.approx(losses.means, abs=10.0**-losses.decimals)
    assert losses.ranker in browser.find_element(By.ID, "importance").text


def test_p_values_and_cut_intervals_are_shown_as_in_the_tables_of_text(opened):
    data = rk.synthesise(30, world=rk.World(documents=6, features=3))
    noise = np.random.default_rng(0).normal(size=data.rows)
    systems = {"noise": noise, "almost": data.grades + 0.3 * noise, "grades": data.grades}
    comparison = rk.compare(systems, data, "p@1:relevant=2", resamples=100)
    browser = opened(of_comparison(comparison, data, systems))
    rows = {row.find_element(By.CLASS_NAME, "name").text: row.text for row in first_table(browser, "tbody tr")}
    for name in systems:
        result = comparison[name].results[0]
        assert spread(result.mean, result.interval, 2) in rows[name]
        if name != "noise":
            assert f"p {comparison.pair(name, 'noise', comparison.measures[0]).randomisation.holm_text}" in rows[name]
    assert any("(" in comparison[name].results[0].spread for name in systems), "an interval that was cut"
    assert any(pair.randomisation.limited for pair in comparison.pairs)


def test_parts_without_data_do_not_appear(opened, market):
    browser = opened(of_training(market[0]))
    shown = [part.get_attribute("id") for part in browser.find_elements(By.TAG_NAME, "section")]
    assert shown == ["training", "importance", "repeat"]


def test_what_held_out_queries_said_is_a_curve_of_its_own(opened):
    ranker = rk.LambdaMART(leaves=4, min_rows=3, patience=8).fit(rk.synthesise(20))
    browser = opened(of_training(ranker))
    section = browser.find_element(By.ID, "training")
    assert "Held out: the mean of smaller trainings" in section.text
    assert len(section.find_elements(By.CSS_SELECTOR, "svg path")) == 2  # on the training data, and this
    browser.execute_script("document.querySelector('#training details').open = true")
    heads = [cell.text for cell in section.find_elements(By.CSS_SELECTOR, "th")]
    assert [head.split("\n")[0] for head in heads][:3] == ["round", "training", "held out"]
    last = section.find_elements(By.CSS_SELECTOR, "tbody tr")[-1].text.split()
    assert last == [str(len(ranker.history.held_out) - 1), "–", f"{ranker.history.held_out[-1]:.4f}"]


def test_the_table_sorts_by_mouse_and_by_keyboard(opened, adapted):
    browser = opened(adapted)
    table = adapted.tables[0]
    column = next(k for k, cell in enumerate(first_table(browser, "th")) if cell.text == table.measures[0])
    heading = first_table(browser, "th")[column]
    by_mean = sorted(table.systems, key=lambda system: -system.results[0].mean)
    shown = [row.text for row in first_table(browser, "tbody .name")]
    assert (shown, heading.get_attribute("aria-sort")) == ([system.name for system in by_mean], "descending")
    heading.find_element(By.TAG_NAME, "button").send_keys(Keys.ENTER)
    shown = [row.text for row in first_table(browser, "tbody .name")]
    assert heading.get_attribute("aria-sort") == "ascending"
    assert [table.systems[[s.name for s in table.systems].index(name)].results[0].mean for name in shown] == sorted(
        system.results[0].mean for system in table.systems
    )
    others = [cell.get_attribute("aria-sort") for k, cell in enumerate(first_table(browser, "th")) if k != column]
    assert set(others) <= {"none", None}


def test_a_query_opens_to_its_documents(opened, adapted):
    browser, queries = opened(adapted), adapted.queries
    change = [new - old for old, new in zip(queries.before, queries.after, strict=True)]
    top = browser.find_element(By.CSS_SELECTOR, ".queries summary")
    best = queries.qids.index(top.find_element(By.CLASS_NAME, "qid").text)
    assert change[best] == max(change)
    top.send_keys(Keys.ENTER)
    cells = WebDriverWait(browser, 5).until(
        lambda b: b.find_elements(By.CSS_SELECTOR, ".queries details[open] td.wide:not(.pushes)")
    )
    documents = queries.documents
    assert [cell.text for cell in cells] == list(documents.ids[documents.offsets[best] : documents.offsets[best + 1]])


def test_queries_are_found_by_text_and_by_kind(opened, adapted):
    browser, queries = opened(adapted), adapted.queries
    search = browser.find_element(By.CSS_SELECTOR, "input[type=search]")
    search.send_keys(queries.qids[3])
    assert queries.qids[3] in [cell.text for cell in browser.find_elements(By.CLASS_NAME, "qid")]
    assert all(queries.qids[3] in cell.text for cell in browser.find_elements(By.CLASS_NAME, "qid"))
    search.clear()
    search.send_keys("nothing is called that")
    assert browser.find_elements(By.CLASS_NAME, "qid") == []
    search.clear()
    search.send_keys(Keys.BACKSPACE)
    browser.find_element(By.CSS_SELECTOR, "input[value=worse]").click()
    worse = {qid for qid, old, new in zip(queries.qids, queries.before, queries.after, strict=True) if new < old - 1e-6}
    assert {cell.text for cell in browser.find_elements(By.CLASS_NAME, "qid")} == worse


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_letters_can_be_read(opened, adapted, colours):
    browser = opened(adapted, colours=colours)
    assert contrasts(browser, 'return [["h1", style("h1").color, ground]];')["h1"] > 12
    found = contrasts(
        browser,
        """
        const small = [".lead", "th button", "nav a", ".notes", ".better"].map((text) => [text, style(text).color, ground]);
        const wash = style("tr.chosen td").backgroundColor;
        const chosen = [...document.querySelectorAll("tr.chosen td *")];
        return [...small, ...chosen.map((text, k) => [`chosen ${k}`, style(text).color, wash])];
        """,
    )
    assert len(found) > 8
    assert min(found.values()) > READABLE, found


@pytest.mark.parametrize(("colours", "media"), GROUNDS)
def test_grades_can_be_read_however_many_there_are(opened, adapted, colours, media):
    browser = opened(adapted, colours=colours, media=media)
    found = contrasts(
        browser,
        """
        const colour = gradeColours([0, 100]);
        return Array.from({ length: 101 }, (_, grade) => {
          const chip = document.body.appendChild(h("span", { class: "chip", style: colour(grade) }));
          return [String(grade), style(chip).color, style(chip).backgroundColor];
        });
        """,
    )
    assert len(found) == 101
    assert min(found.values()) > READABLE, min(found, key=found.get)


@pytest.mark.parametrize(("colours", "media"), GROUNDS)
def test_the_names_of_lines_can_be_read(opened, adapted, colours, media):
    browser = opened(adapted, colours=colours, media=media)
    WebDriverWait(browser, 5).until(lambda b: b.find_elements(By.CSS_SELECTOR, "#curve svg"))
    labels = 'const labels = [...document.querySelectorAll("#curve svg text[style]")];'
    found = contrasts(browser, labels + "return labels.map((text) => [text.textContent, style(text).fill, ground]);")
    assert set(found) == {line.name for line in adapted.curve.lines}
    every = 'const line = (colour) => h("i", { style: { color: colour } });'
    shown = "return COLOURS.map((colour) => [colour, style(document.body.appendChild(line(colour))).color, ground]);"
    assert min([*found.values(), *contrasts(browser, every + shown).values()]) > READABLE


def test_no_fact_needs_a_mouse_to_be_seen(opened, adapted):
    browser = opened(adapted)
    for summary in browser.find_elements(By.CSS_SELECTOR, ".queries summary")[:2]:
        summary.send_keys(Keys.ENTER)
    assert browser.find_elements(By.CSS_SELECTOR, "main :not(svg *)[title]") == []
    best = adapted.tables[0].systems[1]
    gain = best.gains[adapted.tables[0].baselines.index("background")]
    row = first_table(browser, "tbody tr")[1].text.replace("\u2212", "-")
    assert f"{gain.low:+.3f} to {gain.high:+.3f}" in row
    assert f"{gain.wins} · {gain.ties} · {gain.losses}" in row


def test_every_drawing_has_its_numbers(opened, adapted):
    trees = replace(adapted.moved_trees[0], mean_change=tuple(float(k) for k in range(45)))
    browser = opened(replace(adapted, moved_trees=(trees,)))
    bare = browser.find_elements(By.CSS_SELECTOR, "section:not(#queries) figure:not(:has(details.data table))")
    assert bare == []  # the changes of queries are in the list of queries
    rows = browser.find_elements(By.CSS_SELECTOR, "#moved figure tbody tr")
    numbers = [[cell.get_attribute("textContent") for cell in row.find_elements(By.TAG_NAME, "td")] for row in rows[:15]]
    assert numbers == [[f"{k + 1}–{k + 3}", str(k + 1), str(k + 2)] for k in range(0, 45, 3)]


def test_the_page_says_what_it_leaves_out_and_what_it_shows(opened, adapted):
    importance = replace(adapted.importance, kind="count", others=12, unused=1)
    moved = replace(adapted.moved_trees[0], others=1)
    browser = opened(replace(adapted, importance=importance, moved_trees=(moved,)))
    shown = browser.find_element(By.ID, "importance").text
    assert "share of all splits" in shown
    assert "gain that" not in shown
    assert "… and 12 more features with a smaller share; 1 feature without any." in shown
    assert "… and 1 more feature that moved less." in browser.find_element(By.ID, "moved").text
    assert f"over {adapted.grades.queries[0]} queries" in browser.find_element(By.ID, "grades").text
    assert adapted.importance.queries in opened(adapted).find_element(By.ID, "importance").text
    gains = replace(adapted, importance=replace(adapted.importance, kind="gain"))
    assert "share of all gain" in opened(gains).find_element(By.ID, "importance").text


def test_facts_are_shown_whole(opened, adapted):
    shown = {value.text for value in opened(adapted).find_elements(By.CSS_SELECTOR, "#repeat dd")}
    assert shown == {value for facts in adapted.facts for _, value in facts.entries}
    assert max(map(len, shown)) > 400


def test_dark_mode_is_dark(opened, adapted):
    light = opened(adapted).execute_script("return getComputedStyle(document.body).backgroundColor")
    dark = opened(adapted, colours="dark").execute_script("return getComputedStyle(document.body).backgroundColor")
    assert light != dark


@pytest.mark.parametrize("which", ["adapted", "hostile"])
def test_a_narrow_screen_needs_no_scrolling_sideways(opened, request, which):
    browser = opened(request.getfixturevalue(which), width=380)
    browser.find_element(By.CSS_SELECTOR, ".queries summary").send_keys(Keys.ENTER)
    for details in browser.find_elements(By.CSS_SELECTOR, "details.data"):
        browser.execute_script("arguments[0].open = true", details)
    WebDriverWait(browser, 5).until(lambda b: b.find_elements(By.CSS_SELECTOR, "figure svg"))
    width, room = browser.execute_script("const e = document.documentElement; return [e.scrollWidth, e.clientWidth]")
    assert width <= room <= 380
    assert "→" in browser.find_element(By.CSS_SELECTOR, ".queries summary").text  # from what to what it changed


def test_hostile_names_stay_text(opened, hostile):
    browser = opened(hostile)
    shown = {cell.text for cell in browser.find_elements(By.CLASS_NAME, "qid")}
    assert hostile.queries.qids[0] in browser.find_element(By.CLASS_NAME, "queries").get_attribute("textContent")
    assert shown
    for summary in browser.find_elements(By.CSS_SELECTOR, ".queries summary")[:3]:
        summary.send_keys(Keys.ENTER)
    assert browser.execute_script("return document.querySelectorAll('main script, main img, main b').length") == 0
    assert browser.title == tab_title(hostile)


@pytest.mark.parametrize("width", [1100, 380])
def test_members_of_an_ensemble_are_shown_with_their_curve_and_correlations(opened, market, width):
    _, web, _, _, test = market
    members = {"</script><b>one": rk.Feature(0), "two": rk.Feature(1), "three": rk.Feature(2)}
    found = diversity(members, web)
    ensemble = rk.Blend(tuple((1.0, member) for member in members.values()))
    page = opened(of_ensemble(ensemble, members, test=test, diverse=found), width)
    names, cells, points, wide = page.execute_script(
        "const all = (places) => [...document.querySelectorAll(places)].map((one) => one.textContent);"
        "const points = document.querySelectorAll('#diversity svg circle').length;"
        "return [all('#diversity td .name'), all('#diversity .chip'), points, document.documentElement.scrollWidth];"
    )
    assert names == [*members, *members]
    assert cells == [f"{value:.2f}".replace("-", "\u2212") for row in found.correlations for value in row]
    assert points == len(found.curve)
    assert wide <= width


@pytest.fixture(scope="module")
def searched(tuned, market):
    """The report of a search whose data, settings and choices have hostile names."""
    _, web, _, _, test = market
    name = "</script><img src=x onerror=\"document.title = 'broken'\"><b>"
    report = of_tuning(tuned, web, test=replace(test, source=name))
    rate, row_share, leaves, min_rows = report.search.settings
    renamed = {text: f"{name} {text}" for text in leaves.choices}
    settings = [
        (one, share, renamed[leaf], rows) for one, share, leaf, rows in (trial.settings for trial in report.search.trials)
    ]
    trials = tuple(replace(trial, settings=own) for trial, own in zip(report.search.trials, settings, strict=True))
    axes = (replace(rate, name=name), row_share, replace(leaves, choices=tuple(renamed.values())), min_rows)
    return replace(report, search=replace(report.search, settings=axes, trials=trials))


@pytest.mark.parametrize(("width", "colours"), [(1100, "light"), (380, "dark")])
def test_the_trials_of_a_search_are_drawn_and_names_stay_text(opened, searched, width, colours):
    browser, search = opened(searched, width, colours), searched.search
    WebDriverWait(browser, 5).until(lambda b: len(b.find_elements(By.CSS_SELECTOR, "#search figure svg")) == 3)
    for details in browser.find_elements(By.CSS_SELECTOR, "#search details.data"):
        browser.execute_script("arguments[0].open = true", details)
    complete = [trial for trial in search.trials if trial.state == "complete"]
    assert len(browser.find_elements(By.CSS_SELECTOR, "#search svg .trial")) == len(search.trials)
    assert len(browser.find_elements(By.CSS_SELECTOR, "#search svg .line")) == len(complete)
    known = [setting for setting in search.settings if setting.importance is not None]
    assert len(browser.find_elements(By.CSS_SELECTOR, "#search svg rect")) == len(known)
    assert browser.find_elements(By.CSS_SELECTOR, "#search figure:not(:has(details.data table))") == []
    labels = [drawing.get_attribute("aria-label") for drawing in browser.find_elements(By.CSS_SELECTOR, "#search figure svg")]
    chosen = next(trial for trial in search.trials if trial.chosen)
    assert f"trial {chosen.number} was chosen with {chosen.value:.4f}" in labels[0]
    assert all(search.settings[0].name in label for label in labels[1:])
    assert browser.execute_script("return document.querySelectorAll('main script, main img, main b').length") == 0
    assert browser.title == tab_title(searched)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width


def test_marks_of_trials_stand_where_their_values_are(opened, searched):
    """Higher values are drawn higher, hollow marks are those not judged on all folds, and the table has the best first."""
    browser, trials = opened(searched), searched.search.trials
    WebDriverWait(browser, 5).until(lambda b: b.find_elements(By.CSS_SELECTOR, "#search svg circle"))
    drawn = browser.execute_script(
        "return [...document.querySelectorAll('#search svg circle.trial')].map((one) =>"
        " [Number(one.getAttribute('cx')), Number(one.getAttribute('cy')), one.getAttribute('fill') === 'var(--paper)']);"
    )
    valued = [trial for trial in trials if trial.value is not None]
    by_number = sorted(drawn)
    assert [hollow for _, _, hollow in by_number] == [trial.state != "complete" for trial in valued]
    heights = {trial.value: -y for trial, (_, y, _) in zip(valued, by_number, strict=True)}
    assert [heights[value] for value in sorted(heights)] == sorted(heights.values())
    rows = browser.find_elements(By.CSS_SELECTOR, "#search > div:last-child tbody tr")
    best = sorted((trial for trial in trials if trial.state == "complete"), key=lambda trial: -trial.value)
    numbers = [int(row.find_element(By.TAG_NAME, "td").text.split()[0]) for row in rows]
    assert numbers[:10] == [trial.number for trial in best[:10]]
    assert len(browser.find_elements(By.CSS_SELECTOR, "#search > div:last-child tr.chosen")) == 1
    assert "lower values" in browser.find_element(By.ID, "search").text or len(best) <= len(rows)


def test_axes_of_settings_are_logarithmic_linear_or_even(opened, searched):
    browser, search = opened(searched), searched.search
    drawn = browser.execute_script(
        "const { search } = JSON.parse(document.getElementById('data').textContent);"
        "return search.settings.map((setting, k) => search.trials.map((trial) => settingAxis(setting, k).place(trial)));"
    )
    for k, (axis, places) in enumerate(zip(search.settings, drawn, strict=True)):
        values = [trial.settings[k] for trial in search.trials]
        if axis.scale == "choices":
            expected = np.asarray([axis.choices.index(value) for value in values]) / (len(axis.choices) - 1)
        else:
            low, high, *bent = (np.log if axis.scale == "log" else np.asarray)([axis.low, axis.high, *values])
            expected = (np.asarray(bent) - low) / (high - low)
        np.testing.assert_allclose(places, expected, atol=1e-12)
    ticks = browser.execute_script("return [logTicks(0.001, 0.5), logTicks(1e-6, 2)]")
    assert ticks == [[0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5], [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1]]
