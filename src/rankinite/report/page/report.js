// The page: the verdict, then every part that there are data for.

function header(report) {
  const [verdict, told, ...reasons] = report.verdict;
  return h("header", {}, h("p", { class: "kind" }, `${report.title} · rankinite`), h("h1", {}, verdict),
    told ? h("p", { class: "told" }, minus(told)) : null,
    figures(report.figures_title, report.figures),
    reasons.length ? h("div", { class: "reasons" }, reasons.map((reason) => h("p", {}, reason))) : null,
    report.other_figures.map((group) => h("div", { class: "others" }, figures(group.title, group.figures))),
    report.explanation.length ? h("details", { class: "data meaning" }, h("summary", {}, "What the other numbers mean"),
      report.explanation.map((sentence) => h("p", {}, minus(sentence)))) : null);
}

/** A few large numbers, below what they are of. */
function figures(title, shown) {
  if (!shown.length) return null;
  return [title ? h("p", { class: "source" }, title) : null, h("dl", { class: "figures" }, shown.map((figure) => h("div", {}, h("dt", {}, figure.label),
    h("dd", {}, minus(figure.value), figure.note ? h("small", {}, minus(figure.note)) : null))))];
}

function tablesSection(tables) {
  const several = tables.length > 1, marks = [...new Set(tables.flatMap((one) => one.marks))];
  const based = tables.some((one) => one.baselines.length) ? "; the dashed line is the first baseline" : "";
  const lead = `Means over queries with their intervals, the best first${based}. Sort by any heading.`;
  return section("methods", tables[0].systems.length > 1 ? "All methods" : "Evaluation", tables[0].systems.length > 1 ? lead : null, tables.map((one) => h("div", {},
    several ? h("h3", {}, `${one.title}: ${one.source}`) : h("p", { class: "soft small" }, one.source), systemsTable(one),
    h("ul", { class: "notes" }, one.notes.map((note) => h("li", {}, note))))), marks.length ? h("ul", { class: "notes marks" }, marks.map((mark) => h("li", {}, mark))) : null, explained(tables[0].systems));
}

/** How near the scores of an exported model are, in words. */
const HELD = { exact: "exactly", "last bits": "to the last bits", float32: "in float32" };

function servingSection({ measure, higher_is_better: higher, decimals, rankers, note }) {
  const best = higher ? "descending" : "ascending";
  const held = (row) => (row.served_by.length ? row.served_by.map(([exactness, names]) => h("span", { class: "held" }, h("span", { class: "soft" }, `${HELD[exactness] || exactness} `), names)) : "no other program");
  return section("serving", "What serving takes", note, table([
    { label: "method", value: (row) => row.name, cell: (row) => [h("span", { class: "name", dir: "auto" }, row.name), row.deployed ? h("span", { class: "tag" }, "recommended") : null] },
    { label: measure, right: true, first: best, value: (row) => row.mean, cell: (row) => fixed(row.mean, decimals) },
    { label: "size", class: "small", value: (row) => row.size },
    { label: "µs per document", right: true, first: "ascending", value: (row) => row.microseconds, cell: (row) => fixed(row.microseconds, 1) },
    { label: "× background", right: true, first: "ascending", value: (row) => row.times_background, cell: (row) => fixed(row.times_background, 1) },
    { label: "model file", right: true, first: "ascending", value: (row) => row.bytes, cell: (row) => `${Math.ceil(row.bytes / 1000).toLocaleString("en")} kB` },
    { label: "can be served by", class: "text small", cell: held },
  ], rankers, { label: "What serving takes", cards: "plain", sorted: [1, best], rowClass: (row) => (row.deployed ? "chosen" : null) }));
}

/** What the methods are, for those who ask. */
function explained(systems) {
  const told = systems.filter((system) => system.what);
  if (!told.length) return null;
  const timed = told.some((system) => system.seconds !== null);
  const columns = [{ label: "method", value: (row) => row.name }, { label: "what it does", class: "text", value: (row) => row.what },
    timed ? { label: "seconds to fit", right: true, value: (row) => row.seconds, cell: (row) => fixed(row.seconds, 1) } : null].filter(Boolean);
  return h("details", { class: "data" }, h("summary", {}, "What the methods do"), table(columns, told, { label: "What the methods do" }));
}

function systemsTable({ title, source, measures, higher_is_better: higher, baselines, systems, alpha, decimals, gain_decimals: digits }) {
  const ends = systems.flatMap(({ results: [first] }) => [first.mean, first.low, first.high]).filter((value) => value !== null);
  const range = [Math.min(...ends), Math.max(...ends)], base = systems.find((system) => system.name === baselines[0]);
  const several = systems.length > 1, mark = base ? base.results[0].mean : null;
  const byMeasure = measures.map((measure, k) => ({ label: measure, right: true, first: higher[k] ? "descending" : "ascending", value: (row) => row.results[k].mean, cell: (row) => resultCell(row.results[k], several, decimals[k]) }));
  const columns = [
    several ? { label: h("span", { class: "sr" }, "letter"), class: "letter", value: (row) => row.letter, cell: (row) => h("span", { class: "soft" }, row.letter) } : null,
    { label: "method", class: "method", value: (row) => row.name, cell: (row) => [h("span", { class: "name", dir: "auto" }, row.name), row.chosen && several ? h("span", { class: "sr" }, " (chosen)") : null, several && baselines.includes(row.name) ? h("span", { class: "tag" }, "baseline") : null, row.what ? h("span", { class: "what" }, row.what) : null] },
    several ? { label: h("span", { class: "sr" }, "interval"), class: "plot", cell: (row) => whisker(row.results[0], range, mark, row.chosen) } : null,
    ...byMeasure.slice(0, 1),
    ...baselines.map((name, k) => ({ label: `over ${name}`, right: true, value: (row) => row.gains[k] && row.gains[k].difference, cell: (row) => gainCell(row.gains[k], higher[0], alpha, digits[k]) })),
    ...byMeasure.slice(1),
    systems.some((system) => system.size) ? { label: "size", class: "small", value: (row) => row.size } : null,
    systems.some((system) => system.microseconds !== null) ? { label: "µs per document", right: true, first: "ascending", value: (row) => row.microseconds, cell: (row) => fixed(row.microseconds, 1) } : null,
  ].filter(Boolean);
  const sorted = [columns.findIndex((column) => column.label === measures[0]), higher[0] ? "descending" : "ascending"];
  return table(columns, systems, { sorted, label: `${title}: ${source}`, cards: "systems", rowClass: (row) => (row.chosen && several ? "chosen" : null) });
}

function resultCell(result, several, decimals) {
  return [fixed(result.mean, decimals), h("span", { class: "half soft small" }, ` ${minus(result.spread)}`), several ? h("span", { class: "letters" }, result.better_than ? `>${result.better_than}` : null) : null];
}

/** A difference, coloured where it is significant, with its p; below, its interval and the queries better, same and worse. */
function gainCell(gain, higher, alpha, decimals) {
  if (!gain) return "";
  return [h("span", { class: gain.p <= alpha ? tone(gain.difference, higher, decimals) : null }, signed(gain.difference, decimals)), h("span", { class: "soft small" }, ` p ${gain.p_text}`),
    h("span", { class: "below" }, h("span", {}, `${signed(gain.low, decimals)} to ${signed(gain.high, decimals)}`), h("span", {}, `${gain.wins} · ${gain.ties} · ${gain.losses}`))];
}

function gradesSection(told) {
  const colour = gradeColours(told.grades);
  const sides = [[told.before_name, told.before], [told.after_name, told.after]].filter((side) => side[1]);
  const first = told.queries[0], ranks = told.queries.length, last = told.queries[ranks - 1];
  const over = `over ${queryCount(first)} of ${told.source}${last < first ? `, of which ${last.toLocaleString("en")} have ${ranks} documents or more` : ""}`;
  return section("grades", "Grades by rank", `Which share of the documents at each rank has which grade, ${over}. Tied documents count at all their ranks in equal parts.`,
    legend([...told.grades].reverse().map((grade) => [`grade ${grade}`, colour(grade).background])),
    h("div", { class: "pair" }, sides.map(([name, shares]) => stackedChart(name, shares, told.grades, colour, told.queries))));
}

function trainingsSection(trainings) {
  const series = [trainings.some((one) => one.train.length) ? ["training data", "var(--before)"] : null, trainings.some((one) => one.valid.length) ? ["validation data", "var(--after)"] : null,
    trainings.some((one) => one.held_out.length) ? ["queries held out", "var(--third)"] : null].filter(Boolean);
  const heldOut = trainings.some((one) => one.held_out.length) ? " Held out: the mean of smaller trainings, each on the training queries that it had not seen; this chose the number of rounds of the model, which is trained on all of them." : "";
  const measures = [...new Set(trainings.map((one) => one.measure))].join(", ");
  return section("training", "Training, round by round", `${measures} after each round; the dashed line marks the one that was kept.${heldOut}`,
    legend(series), h("div", { class: "multiples" }, trainings.map(trainingChart)), trainings.filter((one) => one.examination.length).map(examinationTable));
}

/** How often positions are clicked and skipped, where clicks were debiased. */
function examinationTable(training) {
  const columns = [{ label: "position", right: true, cell: (row) => row[0] }, { label: "clicked", right: true, cell: (row) => row[1].toFixed(3) }, { label: "skipped", right: true, cell: (row) => row[2].toFixed(3) }];
  const caption = `${training.name}: clicks by position, as estimated while training. How often a document is clicked, or skipped, there: 1 is the first position. Scoring does not use it.`;
  return table(columns, training.examination, { caption, label: "Clicks by position" });
}

const SHARED = {
  contributions: (queries) => `The share of each feature in what ranks documents: the mean size of its contributions to scores (Shapley values) within queries. ${queries}.`,
  gain: () => "The share of all gain that the splits on each feature have.",
  count: () => "The share of all splits that ask for each feature: not every tree here says what its splits gained.",
};

function importanceSection(importance, losses) {
  const shares = importance ? h("div", {}, h("p", { class: "soft small" }, SHARED[importance.kind](importance.queries)), importanceChart(importance),
    leftOut(importance.others, "feature", "with a smaller share", importance.unused ? `${count(importance.unused, "feature")} without any` : "")) : null;
  const lost = losses ? h("div", {}, h("p", { class: "soft small" }, `What the ${losses.measure} of ${losses.ranker} loses when a feature’s values are shuffled within queries, with intervals over queries. ${losses.queries}, ${losses.repeats} shuffles each. Of features that say the same, neither may seem to matter.`),
    lossesChart(losses), leftOut(losses.others, "feature", "that loses less")) : null;
  return section("importance", "Feature importance", null, h("div", { class: "pair" }, shares, lost));
}

/** A line that says what a list has left out. */
function leftOut(number, noun, which, further = "") {
  const told = [number ? `… and ${count(number, `more ${noun}`)} ${which}` : "", further].filter(Boolean).join("; ");
  return told ? h("p", { class: "notes" }, `${told}.`) : null;
}

function movedSection(trees, weights, note) {
  return section("moved", "What adaptation moved", note || null, trees.map(movedTrees), weights.map((one) => h("div", {}, h("h3", {}, one.name),
    h("p", { class: "lead" }, "Weights of the linear part that training changed."), weightsChart(one), leftOut(one.others, "feature", "whose weights changed less"))));
}

function movedTrees(moved) {
  const parts = [`${moved.leaves_changed.toLocaleString("en")} of ${count(moved.leaves, "leaf").replace("leafs", "leaves")} and ${moved.thresholds_changed.toLocaleString("en")} of ${count(moved.thresholds, "threshold")} changed in ${count(moved.trees, "tree")}`,
    moved.trimmed ? `${count(moved.trimmed, "node")} trimmed` : null, moved.added ? `${count(moved.added, "tree")} added` : null].filter(Boolean);
  const features = moved.features.length ? table([
    { label: "feature", class: "text", value: (row) => row.name },
    { label: "thresholds moved", right: true, value: (row) => row.moved, cell: (row) => `${row.moved} of ${row.splits}` },
    { label: "mean distance", right: true, value: (row) => row.total / row.moved, cell: (row) => short(row.total / row.moved) },
    { label: "total distance", right: true, value: (row) => row.total, cell: (row) => short(row.total) },
  ], moved.features, { caption: "Thresholds by feature, in its own unit", sorted: [3, "descending"] }) : null;
  return h("div", {}, h("h3", {}, moved.name), h("p", { class: "lead" }, `${parts.join("; ")}.`), moved.leaves_changed ? treesChart(moved) : null, features ? h("div", { class: "moved" }, features, leftOut(moved.others, "feature", "that moved less")) : null);
}

/** Facts with a longer text than that have the whole width. */
const LONG = 180;

function factsSection(facts) {
  return section("repeat", "To repeat it", null, h("div", { class: "facts" }, facts.map((one) => h("div", { class: one.entries.some(([, value]) => value.length > LONG) ? "long" : null }, h("h3", {}, one.title),
    h("dl", {}, one.entries.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]))))));
}

function contents(sections) {
  return h("nav", { "aria-label": "Contents" }, sections.map((one) => h("a", { href: `#${one.id}` }, one.querySelector("h2").textContent)));
}

(() => {
  const report = JSON.parse(document.getElementById("data").textContent);
  const sections = [
    report.explained ? explanationSection(report.explained) : null,
    report.search ? searchSection(report.search) : null,
    report.tables.length ? tablesSection(report.tables) : null,
    report.folds ? foldsSection(report.folds) : null,
    report.serving ? servingSection(report.serving) : null,
    report.curve ? section("curve", "How much judging helps", `${report.curve.measure} on unseen target queries, by the number of target queries trained on. The band is the interval of ${report.curve.chosen}’s gain over the background.`, curveChart(report.curve)) : null,
    report.diversity ? diversitySection(report.diversity) : null,
    report.queries && report.queries.qids.length ? queriesSection(report.queries) : null,
    report.grades ? gradesSection(report.grades) : null,
    report.trainings.length ? trainingsSection(report.trainings) : null,
    report.importance || report.losses ? importanceSection(report.importance, report.losses) : null,
    report.moved_trees.length || report.moved_weights.length ? movedSection(report.moved_trees, report.moved_weights, report.moved_note) : null,
    report.facts.length ? factsSection(report.facts) : null,
  ].filter(Boolean);
  document.getElementById("content").append(header(report), contents(sections), ...sections,
    h("footer", {}, "Written by rankinite. Everything here is in this file; its data are beside it as JSON."));
})();
