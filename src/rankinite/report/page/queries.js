// Every query: a list that can be searched, each opening to its documents. Rows are made when they are seen.

const PAGE = 20;
const SAME = 1e-6;
/** So many documents are in a strip of grades, and in any case those that the measure counts. */
const STRIP = 20;
/** Longer ids of documents are cut in the middle, and open to the whole. */
const LONG_ID = 64;

function queriesSection(queries) {
  const { higher_is_better: higher, qids, before, after, documents } = queries;
  const alone = before === null, sign = higher ? 1 : -1;
  const change = after.map((value, k) => (alone ? value : value - before[k]));
  const gain = change.map((value) => (Math.abs(value) < SAME ? 0 : sign * value));
  const numbers = qids.map((_, k) => k);
  const most = change.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0) || 1;
  const colour = gradeColours(documents.grades);
  const lower = qids.map((qid) => qid.toLowerCase());
  const kinds = [["all", "All", () => true], ["better", "Better", (k) => gain[k] > 0], ["worse", "Worse", (k) => gain[k] < 0], ["same", "Same", (k) => gain[k] === 0]];
  const orders = alone
    ? [["worst", "Worst first", (a, b) => gain[a] - gain[b]], ["best", "Best first", (a, b) => gain[b] - gain[a]]]
    : [["gains", "Largest gain first", (a, b) => gain[b] - gain[a]], ["losses", "Largest loss first", (a, b) => gain[a] - gain[b]]];
  orders.push(["name", "By name", (a, b) => compared(qids[a], qids[b], 1)]);

  const list = h("ol", { class: "queries" }), status = h("p", { class: "soft small", role: "status" });
  const more = h("button", { type: "button", class: "more", onclick: () => show(PAGE) });
  const search = h("input", { type: "search", placeholder: "Find a query", "aria-label": "Find a query", oninput: () => refresh() });
  const order = h("select", { "aria-label": "Order of the queries", onchange: () => refresh() }, orders.map(([value, name]) => h("option", { value }, name)));
  const filter = h("fieldset", {}, h("legend", { class: "sr" }, "Which queries"), kinds.map(([value, name, keep], place) => h("label", {},
    h("input", { type: "radio", name: "kind", value, checked: place === 0, onchange: () => refresh() }),
    h("span", {}, `${name} ${numbers.filter(keep).length.toLocaleString("en")}`))));
  let found = [], shown = 0;

  const refresh = () => {
    const text = search.value.trim().toLowerCase(), kind = filter.querySelector("input:checked").value;
    const keep = kinds.find((one) => one[0] === kind)[2];
    found = numbers.filter((k) => keep(k) && (!text || lower[k].includes(text)));
    const way = orders.find((one) => one[0] === order.value)[2];
    found.sort((a, b) => way(a, b) || a - b);
    list.replaceChildren();
    shown = 0;
    show(PAGE);
  };
  const show = (number) => {
    list.append(...found.slice(shown, shown + number).map(item));
    shown = Math.min(found.length, shown + number);
    status.textContent = found.length ? `${shown.toLocaleString("en")} of ${found.length.toLocaleString("en")} queries shown` : "No query is like that.";
    more.hidden = shown === found.length;
    more.textContent = `Show ${Math.min(PAGE, found.length - shown)} more`;
  };
  const item = (k) => {
    const inside = h("div", { class: "inside" });
    const opened = (event) => {
      if (event.target.open && !inside.childElementCount) inside.append(...documentsOf(queries, k, colour));
    };
    const word = alone ? "" : gain[k] > 0 ? "better" : gain[k] < 0 ? "worse" : "the same";
    return h("li", {}, h("details", { ontoggle: opened }, h("summary", {},
      h("span", { class: "qid", dir: "auto" }, qids[k]),
      bar(change[k], gain[k], most, alone),
      h("span", { class: "values soft r" }, alone ? "" : `${fixed(before[k])} → ${fixed(after[k])}`),
      h("span", { class: `r ${alone ? "" : tone(change[k], higher)}` }, alone ? fixed(after[k]) : signed(change[k]), h("span", { class: "sr" }, ` ${word}`)),
    ), inside));
  };
  refresh();
  const told = [queries.note, `${queryCount(qids.length)} of ${queries.source}${queries.skipped ? `, ${queries.skipped.toLocaleString("en")} more skipped` : ""}.`];
  const lead = alone ? `${queries.measure} of each query.` : `${queries.measure} of each query, ${queries.before_name} against ${queries.after_name}.`;
  return section("queries", alone ? "Query by query" : "Gains and losses, query by query", [lead, ...told].filter(Boolean).join(" "),
    changesChart(change, higher, alone), h("div", { class: "controls" }, search, alone ? null : filter, order), status, list, more, alone ? h("span", { hidden: true }, filter) : null);
}

/** A bar from the middle to the right for more, to the left for less. */
function bar(change, gain, most, alone) {
  const share = (Math.abs(change) / most) * (alone ? 100 : 50), colour = alone ? "var(--after)" : gain > 0 ? "var(--better)" : "var(--worse)";
  const left = alone ? 0 : change < 0 ? 50 - share : 50;
  return h("span", { class: alone ? "bar alone" : "bar", "aria-hidden": "true" }, h("i", { style: { left: `${left}%`, width: `${share}%`, background: colour } }));
}

function documentsOf(queries, query, colour) {
  const { documents, before_name: beforeName, after_name: afterName } = queries, alone = queries.before === null;
  const first = documents.offsets[query], last = documents.offsets[query + 1];
  const movers = moversOf(queries);
  const rows = Array.from({ length: last - first }, (_, k) => ({
    id: documents.ids ? documents.ids[first + k] : null,
    grade: documents.grades[first + k],
    new: documents.rank_after[first + k] || null,
    old: alone ? null : documents.rank_before[first + k] || null,
    scoreNew: documents.score_after[first + k],
    scoreOld: alone ? null : documents.score_before[first + k],
    pushes: movers ? movers.get(first + k) || [] : [],
  }));
  const pushed = rows.some((row) => row.pushes.length);
  const columns = [
    { label: alone ? "rank" : "rank after", class: "rank", right: true, first: "ascending", value: (row) => row.new, cell: (row) => rankText(rows, row, "new") },
    alone ? null : { label: "rank before", short: "before", right: true, first: "ascending", value: (row) => row.old, cell: (row) => rankText(rows, row, "old") },
    alone ? null : { label: "moved", right: true, value: (row) => (row.old && row.new ? row.old - row.new : null), cell: movedText },
    { label: "grade", class: "grade", right: true, value: (row) => row.grade, cell: (row) => h("span", { class: "chip", style: colour(row.grade) }, String(row.grade)) },
    documents.ids ? { label: "document", class: "wide", value: (row) => row.id, cell: (row) => documentId(row.id) } : null,
    { label: alone ? "score" : "score after", short: "score", right: true, value: (row) => row.scoreNew, cell: (row) => short(row.scoreNew, 5) },
    alone ? null : { label: "score before", short: "before", right: true, value: (row) => row.scoreOld, cell: (row) => short(row.scoreOld, 5) },
    pushed ? { label: "moved by", class: "wide pushes", cell: (row) => pushText(queries.movers.features, row.pushes) } : null,
  ].filter(Boolean);
  const left = documents.left_out.length ? documents.left_out[query] : 0;
  const notes = [
    pushed ? "moved by: the features whose contributions changed most against the query’s other documents, in standard deviations of its scores." : null,
    !pushed && movers ? `Which features moved documents is kept for the ${queryCount(queries.movers.queries)} that changed most.` : null,
    queries.cutoff && rows.length > queries.cutoff ? `${queries.measure} counts the first ${queries.cutoff}: the line in the grades above.` : null,
    rows.some((row) => !row.new || !(alone || row.old)) ? "–: not returned." : null,
    left ? `… and ${count(left, "more document")} further down: the file keeps those among the first ${documents.top}${alone ? "" : " before or after"}.` : null,
  ].filter(Boolean);
  const strips = h("div", { class: "strips", "aria-hidden": "true" },
    alone ? null : [h("span", {}, `before: ${beforeName}`), strip(rows, "old", colour, queries.cutoff)], h("span", {}, alone ? afterName : `after: ${afterName}`), strip(rows, "new", colour, queries.cutoff));
  return [strips, table(columns, rows, { label: `Documents of ${queries.qids[query]}`, sorted: [0, "ascending"], cards: "documents" }), notes.length ? h("p", { class: "notes" }, notes.join(" ")) : null].filter(Boolean);
}

/** The pushes of each document that moved, by its place; null where there are none at all. */
function moversOf(queries) {
  if (!queries.movers) return null;
  queries.movers.byDocument ||= new Map(queries.movers.documents.map((place, k) => [place, queries.movers.pushes[k]]));
  return queries.movers.byDocument;
}

/** Features and their pushes, such as bm25 +0.31. */
function pushText(features, pushes) {
  return pushes.map((feature, k) => (k % 2 ? null : h("span", {}, h("span", { dir: "auto" }, features[feature]), " ",
    h("strong", { class: pushes[k + 1] > 0 ? "up" : "down" }, signed(pushes[k + 1], 2)))));
}

/** The id of a document on one line where it fits; a very long one opens to the whole. */
function documentId(id) {
  const letters = Array.from(id);
  if (letters.length <= LONG_ID) return h("span", { class: letters.length <= 40 ? "id whole" : "id", dir: "auto" }, id);
  const short = `${letters.slice(0, 40).join("")}…${letters.slice(-20).join("")}`;
  return h("details", { class: "id" }, h("summary", { dir: "auto" }, short), h("span", { dir: "auto" }, id));
}

/** The grades of the first documents in their order, as chips; a line is where the measure stops counting. */
function strip(rows, side, colour, cutoff) {
  const ranked = rows.filter((row) => row[side]).sort((a, b) => a[side] - b[side]), shown = Math.max(STRIP, (cutoff || 0) + 1);
  const chip = (row) => h("span", { class: "chip", style: colour(row.grade) }, String(row.grade));
  const chips = ranked.slice(0, shown).map((row, k) => [k === cutoff ? h("span", { class: "cutoff" }) : null, chip(row)]);
  return h("div", { class: "strip" }, chips, ranked.length > shown ? "…" : null);
}

/** A rank; those that several documents share have = behind them. */
function rankText(rows, row, side) {
  if (!row[side]) return h("span", { class: "soft" }, "–");
  const tied = rows.some((other) => other !== row && other[side] === row[side]);
  return String(row[side]) + (tied ? "=" : "");
}

function movedText(row) {
  if (!row.old || !row.new) return h("span", { class: "soft" }, "–");
  const steps = row.old - row.new;
  return steps === 0 ? h("span", { class: "soft" }, "·") : `${steps > 0 ? "↑" : "↓"} ${Math.abs(steps)}`;
}
