// A cross-validation fold by fold: one line of dots for each system.

function foldsSection(found) {
  const { measure, folds } = found;
  const lead = `${measure} of the test queries of each of ${count(folds.length, "fold")}: a dot is a fold, the line across is the mean over all queries. Folds differ because their queries do.`;
  return section("folds", "Fold by fold", lead, foldsChart(found));
}

function foldsChart({ measure, systems, chosen, means, best_in: best, folds }) {
  const row = 44, of = (k) => folds.map((fold) => fold.means[k]).filter((value) => value !== null);
  const draw = (svg, width, height) => {
    const left = Math.min(200, width * 0.34), right = width - 12, range = padded(folds.flatMap((fold) => fold.means)), x = scale(range, [left, right]), bottom = height - 22;
    for (const value of ticks(...range, width < 500 ? 3 : 6)) {
      svg.append(s("line", { class: "grid", x1: x(value), x2: x(value), y1: 0, y2: bottom }), s("text", { x: x(value), y: bottom + 16, "text-anchor": "middle" }, short(value)));
    }
    systems.forEach((name, k) => {
      const y = k * row + row / 2, colour = name === chosen ? "var(--after)" : "var(--before)", values = of(k);
      svg.append(s("text", { class: "label", x: left - 12, y: y + 4, "text-anchor": "end" }, cut(name, (left - 14) / 7), s("title", {}, name)));
      if (!values.length) return;
      svg.append(s("line", { class: "axis", x1: x(Math.min(...values)), x2: x(Math.max(...values)), y1: y, y2: y }),
        ...folds.map((fold, number) => (fold.means[k] === null ? null : s("circle", { class: "fold", cx: x(fold.means[k]), cy: y, r: 4.5, fill: colour, opacity: 0.75 }, s("title", {}, `fold ${number + 1}: ${fixed(fold.means[k])}`)))).filter(Boolean),
        s("line", { x1: x(means[k]), x2: x(means[k]), y1: y - 11, y2: y + 11, stroke: colour, "stroke-width": 2.5 }));
    });
  };
  const numbers = table([
    { label: "fold", right: true, value: (row) => row.number },
    { label: "queries", right: true, value: (row) => row.queries },
    ...systems.map((name, k) => ({ label: name, right: true, value: (row) => row.means[k], cell: (row) => fixed(row.means[k]) })),
  ], folds.map((fold, k) => ({ number: k + 1, ...fold })), { label: "Fold by fold: numbers", cards: systems.length > 3 ? "pairs" : null });
  const label = `${measure} by fold: ${systems.map((name, k) => `${name} from ${fixed(Math.min(...of(k)))} to ${fixed(Math.max(...of(k)))}, best in ${count(best[k], "fold")}`).join("; ")}.`;
  return chart({ label, height: systems.length * row + 24, draw, numbers });
}
