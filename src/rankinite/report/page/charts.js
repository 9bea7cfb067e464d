// Drawings, each with its numbers as a table below it.

const COLOURS = ["var(--before)", "var(--after)", "var(--third)", "var(--fourth)"];

/** A drawing as wide as its place; ``numbers`` is the table that says the same. */
function chart({ title, label, height, draw, numbers }) {
  const drawing = h("div");
  let width = 0;
  const redraw = () => {
    const room = Math.floor(drawing.clientWidth);
    if (!room || room === width) return;
    width = room;
    const high = typeof height === "function" ? height(width) : height;
    const svg = s("svg", { viewBox: `0 0 ${width} ${high}`, width: "100%", role: "img", "aria-label": label });
    draw(svg, width, high);
    drawing.replaceChildren(svg);
  };
  new ResizeObserver(redraw).observe(drawing);
  return h("figure", {}, title ? h("figcaption", {}, title) : null, drawing,
    numbers ? h("details", { class: "data" }, h("summary", {}, "Numbers"), numbers) : null);
}

/** From values to places. */
function scale([low, high], [start, end]) {
  const range = high - low || 1;
  return (value) => start + ((value - low) / range) * (end - start);
}

/** Round numbers that cover a range. */
function ticks(low, high, about = 4) {
  const rough = (high - low) / about || 1, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((size) => size >= rough * 0.999);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k += 1) found.push(Number((k * step).toPrecision(12)));
  return found;
}

function padded(values, share = 0.08) {
  const known = values.filter((value) => value !== null && value !== undefined);
  const low = Math.min(...known), high = Math.max(...known), room = (high - low || Math.abs(high) || 1) * share;
  return [low - room, high + room];
}

/** Horizontal lines with their values on the left. */
function yAxis(svg, y, range, [left, right]) {
  for (const value of ticks(...range)) {
    svg.append(s("line", { class: "grid", x1: left, x2: right, y1: y(value), y2: y(value) }),
      s("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, short(value)));
  }
}

function path(points) {
  let text = "", pen = "M";
  for (const [x, y] of points) {
    if (y === null) { pen = "M"; continue; }
    text += `${pen}${x.toFixed(1)} ${y.toFixed(1)}`;
    pen = "L";
  }
  return text;
}

/** A mean with its interval, for a cell of the table of methods. */
function whisker(result, range, mark, strong) {
  const width = 100, height = 14, x = scale(range, [4, width - 4]), colour = strong ? "var(--after)" : "var(--before)";
  if (result.mean === null) return null;
  const low = result.low === null ? result.mean : result.low, high = result.high === null ? result.mean : result.high;
  return s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" },
    mark === null ? null : s("line", { class: "zero", x1: x(mark), x2: x(mark), y1: -6, y2: height + 6, "stroke-dasharray": "2 2", opacity: 0.7 }),
    s("line", { x1: x(low), x2: x(high), y1: 7, y2: 7, stroke: colour, "stroke-width": 1.5 }),
    s("circle", { cx: x(result.mean), cy: 7, r: 3.5, fill: colour }));
}

/** Labels at the ends of lines, moved apart. */
function spread(labels, least, low, high) {
  const sorted = [...labels].sort((a, b) => a.y - b.y);
  sorted.forEach((label, place) => { if (place) label.y = Math.max(label.y, sorted[place - 1].y + least); });
  for (let place = sorted.length - 1; place >= 0; place -= 1) {
    const below = place === sorted.length - 1 ? high : sorted[place + 1].y - least;
    sorted[place].y = Math.max(low, Math.min(sorted[place].y, below));
  }
  return labels;
}

function curveChart(curve) {
  const others = ["var(--third)", "var(--fourth)"];
  const lines = curve.lines.map((line) => ({
    ...line,
    colour: line.name === curve.chosen ? "var(--after)" : line.name === "background" ? "var(--before)" : others.shift() || "var(--muted)",
  }));
  const ground = lines.find((line) => line.name === "background");
  const ends = (line, side) => line[side].map((value, k) => (value === null || !ground ? null : ground.means[k] + value));
  const chosen = lines.find((line) => line.name === curve.chosen && line.lows.length);
  const band = chosen ? { low: ends(chosen, "lows"), high: ends(chosen, "highs") } : null;
  const draw = (svg, width, height) => {
    const left = 52, right = width - Math.min(110, width * 0.26), top = 10, bottom = height - 40;
    const range = padded([...lines.flatMap((line) => line.means), ...(band ? [...band.low, ...band.high] : [])]);
    const x = scale([0, curve.sizes[curve.sizes.length - 1]], [left, right]), y = scale(range, [bottom, top]);
    yAxis(svg, y, range, [left, right]);
    if (band && !band.low.includes(null)) {
      const up = curve.sizes.map((size, k) => [x(size), y(band.high[k])]), down = curve.sizes.map((size, k) => [x(size), y(band.low[k])]);
      svg.append(s("path", { d: path([...up, ...down.reverse()]) + "Z", fill: "var(--after)", opacity: 0.1 }));
    }
    for (const size of curve.sizes) svg.append(s("text", { x: x(size), y: bottom + 18, "text-anchor": "middle" }, String(size)));
    svg.append(s("text", { x: (left + right) / 2, y: bottom + 36, "text-anchor": "middle" }, "target queries trained on"));
    const labels = spread(lines.map((line) => ({ line, y: y(line.means[line.means.length - 1]) })), 15, top, bottom);
    for (const { line, y: place } of labels) {
      const strong = line.name === curve.chosen;
      svg.append(
        s("path", { d: path(line.means.map((mean, k) => [x(curve.sizes[k]), y(mean)])), fill: "none", stroke: line.colour, "stroke-width": strong ? 2.5 : 1.5 }),
        ...line.means.map((mean, k) => s("circle", { cx: x(curve.sizes[k]), cy: y(mean), r: strong ? 3.5 : 2.5, fill: line.colour })),
        s("text", { x: right + 10, y: place + 4, style: { fill: line.colour, fontWeight: strong ? 600 : 400 } }, line.name));
    }
  };
  const numbers = table([
    { label: "queries", value: (row) => row.size },
    ...lines.map((line) => ({ label: line.name, right: true, value: (row) => line.means[row.k], cell: (row) => {
      const [gain, low, high] = ["gains", "lows", "highs"].map((side) => line.gains.length && signed(line[side][row.k], curve.decimals));
      return fixed(line.means[row.k], curve.decimals) + (line.gains.length ? ` (${gain}, ${low} to ${high})` : "");
    } })),
  ], curve.sizes.map((size, k) => ({ size, k })), { caption: "In brackets: gain over the background and its 95% interval over queries." });
  const last = curve.sizes.length - 1;
  const label = `Learning curve: ${curve.measure} by target queries trained on. With ${curve.sizes[last]} queries: ` +
    lines.map((line) => `${line.name} ${fixed(line.means[last], curve.decimals)}`).join(", ") + ".";
  return chart({ label, height: (width) => (width < 500 ? 260 : 340), draw, numbers });
}

function trainingChart(training) {
  const all = Math.max(training.rounds, training.held_out_rounds);
  const series = [["training", training.train, "var(--before)", training.rounds], ["validation", training.valid, "var(--after)", training.rounds],
    ["held out", training.held_out, "var(--third)", training.held_out_rounds]].filter((one) => one[1].length)
    .map(([name, values, colour, rounds]) => ({ name, colour, values: new Map(values.map((value, k) => [Math.min(k * training.every, rounds), value])) }));
  const draw = (svg, width, height) => {
    const left = 48, right = width - 8, top = 16, bottom = height - 24;
    const range = padded(series.flatMap((one) => [...one.values.values()]));
    const x = scale([0, all], [left, right]), y = scale(range, [bottom, top]);
    yAxis(svg, y, range, [left, right]);
    const best = x(training.best), side = best > (left + right) / 2 ? "end" : "start";
    svg.append(s("line", { class: "zero", x1: best, x2: best, y1: top, y2: bottom, "stroke-dasharray": "3 3" }));
    for (const { values, colour } of series) {
      svg.append(s("path", { d: path([...values].map(([round, value]) => [x(round), value === null ? null : y(value)])), fill: "none", stroke: colour, "stroke-width": 1.75 }));
    }
    if (training.best_value !== null) svg.append(s("circle", { cx: best, cy: y(training.best_value), r: 3.5, fill: training.valid.length ? "var(--after)" : "var(--before)" }));
    svg.append(s("text", { class: "label", x: best + (side === "end" ? -6 : 6), y: top - 4, "text-anchor": side }, `${training.unit} ${training.best}`),
      s("text", { x: left, y: bottom + 18 }, "0"), s("text", { x: right, y: bottom + 18, "text-anchor": "end" }, count(all, training.unit)));
  };
  const shown = [...new Set(series.flatMap((one) => [...one.values.keys()]))].sort((one, other) => one - other);
  const step = Math.max(1, Math.ceil(shown.length / 20));
  const rows = shown.filter((_, k) => k % step === 0 || k === shown.length - 1);
  const thinned = step * training.every > 1 ? `Every ${step * training.every} ${training.unit}s, and the last.` : null;
  const numbers = table([{ label: training.unit, right: true, value: (round) => round },
    ...series.map(({ name, values }) => ({ label: name, right: true, value: (round) => values.get(round), cell: (round) => fixed(values.get(round)) }))], rows, { caption: thinned, label: `${training.name}: numbers` });
  const label = `${training.name}: ${training.measure} over ${count(all, training.unit)}; ${training.unit} ${training.best} was chosen` +
    (training.best_value === null ? "" : ` with ${fixed(training.best_value)}`) +
    (training.held_out.length ? `, by ${count(training.held_out_parts, "smaller training")} on queries held out.` : ".");
  return chart({ title: training.name, label, height: 170, draw, numbers });
}

/** Bars for ranks, stacked by grade, the best grade at the bottom. */
function stackedChart(title, shares, grades, colour, queries) {
  const draw = (svg, width, height) => {
    const left = 40, top = 6, bottom = height - 36, room = (width - left) / shares.length, gap = Math.min(3, room * 0.15);
    const y = scale([0, 1], [bottom, top]);
    for (const value of [0, 0.5, 1]) svg.append(s("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, percent(value)));
    shares.forEach((row, rank) => {
      let below = 0;
      for (let k = row.length - 1; k >= 0; k -= 1) {
        const title = s("title", {}, `rank ${rank + 1}, grade ${grades[k]}: ${percent(row[k])}`);
        svg.append(s("rect", { x: left + rank * room, width: room - gap, y: y(below + row[k]), height: Math.max(0, y(below) - y(below + row[k])), style: { fill: colour(grades[k]).background } }, title));
        below += row[k];
      }
      if (rank === 0 || (rank + 1) % 5 === 0) svg.append(s("text", { x: left + (rank + 0.5) * room - gap / 2, y: bottom + 16, "text-anchor": "middle" }, String(rank + 1)));
    });
    svg.append(s("text", { x: (left + width) / 2, y: bottom + 34, "text-anchor": "middle" }, "rank"));
  };
  const best = grades.length - 1;
  const numbers = table([{ label: "rank", value: (row) => row.rank }, { label: "queries", right: true, value: (row) => queries[row.rank - 1] }, ...grades.map((grade, k) => ({ label: `grade ${grade}`, right: true, value: (row) => row.shares[k], cell: (row) => percent(row.shares[k]) }))],
    shares.map((row, rank) => ({ rank: rank + 1, shares: row })), { label: `${title}: numbers` });
  const label = `Grades by rank, ${title}: at rank 1, ${percent(shares[0][best])} have grade ${grades[best]} and ${percent(shares[0][0])} grade ${grades[0]}.`;
  return chart({ title, label, height: 240, draw, numbers });
}

const KINDS = { contributions: "share of contributions", gain: "share of gain", count: "share of splits" };

/** One line per feature, one dot per ranker. */
function importanceChart(importance) {
  const { features, rankers, shares } = importance;
  const row = 24, colours = rankers.length === 1 ? [COLOURS[1]] : COLOURS;
  const draw = (svg, width) => {
    const left = Math.min(200, width * 0.38), right = width - 14, most = Math.max(...shares.flat());
    const x = scale([0, most], [left, right]), bottom = features.length * row + 4;
    for (const value of ticks(0, most, width < 500 ? 2 : 5)) {
      svg.append(s("line", { class: "grid", x1: x(value), x2: x(value), y1: 0, y2: bottom }), s("text", { x: x(value), y: bottom + 16, "text-anchor": "middle" }, percent(value)));
    }
    features.forEach((name, k) => {
      const y = k * row + row / 2, own = shares[k];
      svg.append(s("text", { class: "label", x: left - 10, y: y + 4, "text-anchor": "end" }, cut(name, left / 7), s("title", {}, name)),
        s("line", { class: "axis", x1: x(rankers.length === 1 ? 0 : Math.min(...own)), x2: x(Math.max(...own)), y1: y, y2: y, "stroke-width": 2 }),
        ...own.map((share, which) => s("circle", { cx: x(share), cy: y, r: 4.5, fill: colours[which] }, s("title", {}, `${name}, ${rankers[which]}: ${percent(share)}`))));
    });
  };
  const numbers = table([{ label: "feature", class: "text", value: (k) => features[k] },
    ...rankers.map((name, which) => ({ label: name, right: true, value: (k) => shares[k][which], cell: (k) => percent(shares[k][which]) }))], features.map((_, k) => k), { label: "Feature importance: numbers" });
  const label = `Feature importance, ${KINDS[importance.kind]}: ${features.slice(0, 3).map((name, k) => `${name} ${shares[k].map(percent).join(" / ")}`).join(", ")} lead.`;
  return h("div", {}, legend(rankers.map((name, which) => [name, colours[which]])),
    chart({ label, height: features.length * row + 28, draw, numbers }));
}

/** One line per feature: what the measure loses without it, with its interval. */
function lossesChart(losses) {
  const { features, means, lows, highs, decimals } = losses, row = 24;
  const ends = (k) => [lows[k] === null ? means[k] : lows[k], highs[k] === null ? means[k] : highs[k]];
  const draw = (svg, width) => {
    const left = Math.min(200, width * 0.38), all = features.flatMap((_, k) => ends(k));
    const range = [Math.min(0, ...all), Math.max(0, ...all)], x = scale(range, [left, width - 14]), bottom = features.length * row + 4;
    for (const value of ticks(...range, width < 500 ? 2 : 5)) {
      svg.append(s("line", { class: "grid", x1: x(value), x2: x(value), y1: 0, y2: bottom }), s("text", { x: x(value), y: bottom + 16, "text-anchor": "middle" }, short(value)));
    }
    svg.append(s("line", { class: "zero", x1: x(0), x2: x(0), y1: 0, y2: bottom }));
    features.forEach((name, k) => {
      const y = k * row + row / 2, [low, high] = ends(k), colour = means[k] > 0 ? COLOURS[1] : COLOURS[0];
      svg.append(s("text", { class: "label", x: left - 10, y: y + 4, "text-anchor": "end" }, cut(name, left / 7), s("title", {}, name)),
        s("line", { x1: x(low), x2: x(high), y1: y, y2: y, stroke: colour, "stroke-width": 1.5 }),
        s("circle", { cx: x(means[k]), cy: y, r: 4.5, fill: colour }, s("title", {}, `${name}: ${signed(means[k], decimals)}`)));
    });
  };
  const numbers = table([{ label: "feature", class: "text", value: (k) => features[k] },
    { label: "lost", right: true, value: (k) => means[k], cell: (k) => signed(means[k], decimals) },
    { label: "interval", right: true, cell: (k) => `${signed(lows[k], decimals)} to ${signed(highs[k], decimals)}` }], features.map((_, k) => k), { label: "Features shuffled: numbers" });
  const label = `${losses.measure} lost when a feature is shuffled: ${features.slice(0, 3).map((name, k) => `${name} ${signed(means[k], decimals)}`).join(", ")}.`;
  return h("div", {}, legend([[losses.ranker, COLOURS[1]]]), chart({ label, height: features.length * row + 28, draw, numbers }));
}

function cut(text, most) {
  return text.length <= most ? text : text.slice(0, Math.max(1, Math.floor(most) - 1)) + "…";
}

/** One bar a tree: how far its leaves moved. */
function treesChart(moved) {
  const draw = (svg, width, height) => {
    const left = 52, bottom = height - 22, most = Math.max(...moved.mean_change) || 1, y = scale([0, most], [bottom, 8]);
    const x = scale([0, moved.mean_change.length], [left, width]);
    yAxis(svg, y, [0, most], [left, width]);
    const thick = Math.max(0.6, ((width - left) / moved.mean_change.length) * 0.7);
    svg.append(s("path", { d: moved.mean_change.map((value, k) => `M${x(k + 0.5).toFixed(1)} ${bottom}V${y(value).toFixed(1)}`).join(""), stroke: "var(--after)", "stroke-width": thick }),
      s("text", { x: left, y: bottom + 16 }, "first tree"), s("text", { x: width, y: bottom + 16, "text-anchor": "end" }, `tree ${moved.trees}`));
  };
  const mean = moved.mean_change.reduce((sum, value) => sum + value, 0) / Math.max(1, moved.mean_change.length);
  return chart({ title: "Mean change of a leaf’s value, tree by tree", label: `${moved.name}: a leaf's value changed by ${short(mean)} on average over trees, at most ${short(Math.max(...moved.mean_change))}.`, height: 130, draw, numbers: treesNumbers(moved) });
}

/** The same for at most 20 groups of trees. */
function treesNumbers(moved) {
  const changes = moved.mean_change, size = Math.ceil(changes.length / 20), rows = [];
  for (let first = 0; first < changes.length; first += size) {
    const own = changes.slice(first, first + size);
    rows.push({ first: first + 1, last: first + own.length, mean: own.reduce((sum, value) => sum + value, 0) / own.length, largest: Math.max(...own) });
  }
  return table([
    { label: size > 1 ? "trees" : "tree", value: (row) => row.first, cell: (row) => (row.last > row.first ? `${row.first}–${row.last}` : String(row.first)) },
    { label: "mean change", right: true, value: (row) => row.mean, cell: (row) => short(row.mean) },
    size > 1 ? { label: "largest of a tree", right: true, value: (row) => row.largest, cell: (row) => short(row.largest) } : null,
  ].filter(Boolean), rows, { label: `${moved.name}: numbers tree by tree` });
}

/** Bars of features to the left and right of 0. */
function signedBars(features, changes, label, numbers) {
  const row = 24;
  const draw = (svg, width) => {
    const left = Math.min(200, width * 0.38), low = Math.min(0, ...changes), high = Math.max(0, ...changes);
    const x = scale([low, high], [left + (low < 0 ? 54 : 0), width - (high > 0 ? 54 : 4)]), bottom = features.length * row;
    svg.append(s("line", { class: "zero", x1: x(0), x2: x(0), y1: 0, y2: bottom }));
    features.forEach((name, k) => {
      const y = k * row + row / 2, change = changes[k], tip = x(change);
      svg.append(s("text", { class: "label", x: left - 10, y: y + 4, "text-anchor": "end" }, cut(name, left / 7), s("title", {}, name)),
        s("rect", { x: Math.min(tip, x(0)), width: Math.abs(tip - x(0)), y: y - 5, height: 10, rx: 1, style: { fill: change > 0 ? "var(--after)" : "var(--third)" } }),
        s("text", { x: tip + (change > 0 ? 5 : -5), y: y + 4, "text-anchor": change > 0 ? "start" : "end" }, short(change, 3)));
    });
  };
  return chart({ label, height: features.length * row + 4, draw, numbers });
}

function weightsChart(moved) {
  const label = `${moved.name}: weights changed most: ${moved.features.slice(0, 3).map((name, k) => `${name} ${short(moved.changes[k], 3)}`).join(", ")}.`;
  return signedBars(moved.features, moved.changes, label,
    table([{ label: "feature", class: "text", value: (k) => moved.features[k] }, { label: "change", right: true, value: (k) => moved.changes[k], cell: (k) => short(moved.changes[k]) }], moved.features.map((_, k) => k), { label: `${moved.name}: numbers` }));
}

/** Fewer queries than this are dots: as areas they would look like blocks. */
const FEW = 15;

/** All queries' changes, sorted: how much is gained and lost in all. */
function changesChart(changes, higher, alone) {
  const sorted = [...changes].sort((a, b) => b - a);
  const draw = (svg, width, height) => {
    const left = 52, top = 8, bottom = height - 22, range = padded([...[sorted[0], sorted[sorted.length - 1]], 0], 0.04);
    const x = scale([0, sorted.length], [left, width]), y = scale(range, [bottom, top]);
    yAxis(svg, y, range, [left, width]);
    const area = (keep) => {
      const parts = sorted.map((value, k) => [value, k]).filter(([value]) => keep(value));
      if (!parts.length) return "";
      const first = parts[0][1], last = parts[parts.length - 1][1] + 1;
      const steps = parts.map(([value, k]) => `L${x(k).toFixed(1)} ${y(value).toFixed(1)}L${x(k + 1).toFixed(1)} ${y(value).toFixed(1)}`).join("");
      return `M${x(first).toFixed(1)} ${y(0).toFixed(1)}${steps}L${x(last).toFixed(1)} ${y(0).toFixed(1)}Z`;
    };
    const up = alone ? "var(--after)" : higher ? "var(--better)" : "var(--worse)", down = higher ? "var(--worse)" : "var(--better)";
    const dot = (value, k) => { // a rounded 0 is neither
      const colour = Math.abs(value) < SAME ? "var(--before)" : value > 0 ? up : down, middle = x(k + 0.5);
      return [s("line", { x1: middle, x2: middle, y1: y(0), y2: y(value), stroke: colour, "stroke-width": 1.5 }),
        s("circle", { class: "query", cx: middle, cy: y(value), r: 4.5, fill: colour })];
    };
    const areas = () => [s("path", { d: area((value) => value > 0), fill: up }), s("path", { d: area((value) => value < 0), fill: down })];
    svg.append(...(sorted.length < FEW ? sorted.flatMap(dot) : areas()),
      s("line", { class: "zero", x1: left, x2: width, y1: y(0), y2: y(0) }),
      s("text", { x: width, y: bottom + 16, "text-anchor": "end" }, queryCount(sorted.length)));
  };
  const middle = sorted[Math.floor(sorted.length / 2)];
  return chart({ label: `${alone ? "Values" : "Changes"} of all queries, sorted: from ${signed(sorted[0])} to ${signed(sorted[sorted.length - 1])}, median ${signed(middle)}. The list below has every query.`, height: 150, draw });
}
