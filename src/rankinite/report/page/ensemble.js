// The members of an ensemble: what each adds, how alike they are, and how many are enough.

function diversitySection(found) {
  const { measure, source, together } = found;
  return section("diversity", "How the members differ", `On ${source}, where the average of all members has ${measure} ${fixed(together)}. A member helps if it is good, or if it errs where the others do not.`,
    contributions(found), sizeChart(found), correlationTable(found));
}

function contributions({ measure, members, higher_is_better: higher }) {
  const column = (label, key, show) => ({ label, right: true, value: (row) => row[key], cell: (row) => show(row[key]) });
  return h("div", {}, h("h3", {}, "What each member adds"), table([
    { label: "member", value: (row) => row.name, cell: (row) => h("span", { class: "name", dir: "auto" }, row.name) },
    { ...column(`${measure} alone`, "alone", fixed), first: higher ? "descending" : "ascending" },
    column("errors correlate", "errors", (value) => fixed(value, 2)),
    column("scores correlate", "scores", (value) => fixed(value, 2)),
    column("all without it", "without", fixed),
    { ...column("adds", "adds", signed), cell: (row) => [signed(row.adds), h("span", { class: "below" }, `${signed(row.interval[0])} to ${signed(row.interval[1])}`)] },
  ], members, { label: "What each member adds", cards: "pairs" }),
  h("ul", { class: "notes" }, h("li", {}, "Correlations are means over the other members: of errors over queries, of scores within queries."),
    h("li", {}, "Adds: the average of all less that of all without it, with its 95% interval, paired by query.")));
}

/** The measure by the number of members, with the range of the subsets tried. */
function sizeChart({ measure, curve }) {
  const draw = (svg, width, height) => {
    const left = 52, right = width - 12, top = 10, bottom = height - 40, last = curve[curve.length - 1].size;
    const range = padded(curve.flatMap((point) => [point.lowest, point.highest]));
    const x = scale([1, Math.max(2, last)], [left + 8, right]), y = scale(range, [bottom, top]);
    yAxis(svg, y, range, [left, right]);
    const up = curve.map((point) => [x(point.size), y(point.highest)]), down = curve.map((point) => [x(point.size), y(point.lowest)]);
    svg.append(s("path", { d: path([...up, ...down.reverse()]) + "Z", fill: "var(--after)", opacity: 0.1 }),
      s("path", { d: path(curve.map((point) => [x(point.size), y(point.mean)])), fill: "none", stroke: "var(--after)", "stroke-width": 2.5 }),
      ...curve.map((point) => s("circle", { cx: x(point.size), cy: y(point.mean), r: 3.5, fill: "var(--after)" }, s("title", {}, `${count(point.size, "member")}: ${fixed(point.mean)}`))),
      ...curve.map((point) => s("text", { x: x(point.size), y: bottom + 18, "text-anchor": "middle" }, String(point.size))),
      s("text", { x: (left + right) / 2, y: bottom + 36, "text-anchor": "middle" }, "members"));
  };
  const numbers = table([{ label: "members", right: true, value: (row) => row.size }, ...["mean", "lowest", "highest"].map((key) => ({ label: key, right: true, value: (row) => row[key], cell: (row) => fixed(row[key]) })),
    { label: "subsets", right: true, value: (row) => row.subsets }], curve, { label: "Ensemble size: numbers" });
  const [first, end] = [curve[0], curve[curve.length - 1]];
  return h("div", {}, h("h3", {}, "How many members are enough"), h("p", { class: "lead" }, `${measure} of averages of some members: the mean over subsets of each size, and the range of those tried.`),
    chart({ label: `${measure} by members: from ${fixed(first.mean)} with ${first.size} to ${fixed(end.mean)} with ${end.size}.`, height: (width) => (width < 500 ? 240 : 300), draw, numbers }));
}

function correlationTable({ members, correlations }) {
  const known = correlations.flat().filter((value) => value !== null), shade = gradeColours([Math.min(...known), Math.max(...known)]);
  const rows = members.map((member, k) => ({ name: member.name, values: correlations[k] }));
  const cell = (value) => (value === null ? "–" : h("span", { class: "chip", style: shade(value) }, fixed(value, 2)));
  return h("div", {}, h("h3", {}, "Correlation of their errors"), h("p", { class: "lead" }, "Over queries. Members of which one errs where the other does not are the most use to each other."),
    table([{ label: h("span", { class: "sr" }, "member"), cell: (row) => h("span", { class: "name", dir: "auto" }, row.name) },
      ...members.map((member, k) => ({ label: member.name, right: true, cell: (row) => cell(row.values[k]) }))], rows, { label: "Correlation of errors" }));
}
