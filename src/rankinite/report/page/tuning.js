// A search of settings: the trials one after another, which settings matter, and which go together.

const CHOSEN = "var(--third)";
const BEST_SHOWN = 10;

function searchSection(found) {
  const { measure, folds, trials } = found;
  const where = folds ? `${folds} folds of the queries` : "validation data";
  const complete = trials.filter((trial) => trial.state === "complete");
  const varied = found.settings.some((setting, k) => new Set(complete.map((trial) => trial.settings[k])).size > 1);
  return section("search", "Search", `${measure} of ${count(trials.length, "trial")}, each judged by ${where}. The value of the one chosen is too good, because it was chosen by it.`,
    h("h3", {}, "Value by trial"), trialsLegend(trials), trialsChart(found),
    found.settings.some((setting) => setting.importance !== null) ? settingsImportance(found) : null,
    varied ? parallelCoordinates(found, complete) : null, bestTrials(found, complete));
}

// ---- trial by trial ----------------------------------------------------------------------------------------------------

/** Trials without a value have a cross at the bottom; those not judged on all folds are hollow. */
function trialMark(trial, x, y, bottom) {
  const title = s("title", {}, trialText(trial)), place = x(trial.number);
  if (trial.value === null) return s("path", { class: "trial", d: `M${place - 3} ${bottom - 7}l6 6m0 -6l-6 6`, stroke: "var(--muted)", "stroke-width": 1.5, fill: "none" }, title);
  const whole = trial.state === "complete", colour = trial.chosen ? CHOSEN : whole ? "var(--after)" : "var(--muted)";
  return s("circle", { class: "trial", cx: place, cy: y(trial.value), r: trial.chosen ? 5.5 : 3.5, fill: whole ? colour : "var(--paper)", stroke: colour, "stroke-width": 1.5 }, title);
}

const trialText = (trial) => `trial ${trial.number}: ${fixed(trial.value)}, ${trial.chosen ? "chosen" : trial.state}`;

function trialsLegend(trials) {
  const has = (state) => trials.some((trial) => trial.state === state);
  const hollow = ["dropped", "unfinished"].filter(has), dot = (fill, line) => ({ background: fill, borderRadius: "50%", boxShadow: `inset 0 0 0 1.5px ${line}` });
  const entries = [["chosen", dot(CHOSEN, CHOSEN)], ["complete", dot("var(--after)", "var(--after)")],
    hollow.length ? [`${hollow.join(" or ")}: the mean over the folds done`, dot("var(--paper)", "var(--muted)")] : null,
    has("refused") ? ["×: could not be trained", null] : null,
    ["best so far", { background: "var(--before)", height: "2px", width: "1.2em", verticalAlign: "middle" }]].filter(Boolean);
  return h("ul", { class: "legend" }, entries.map(([name, style]) => h("li", {}, style ? h("i", { style }) : null, name)));
}

function trialsChart({ measure, trials }) {
  const chosen = trials.find((trial) => trial.chosen), last = trials[trials.length - 1].number;
  const draw = (svg, width, height) => {
    const left = 52, right = width - 12, top = 22, bottom = height - 40;
    const range = padded(trials.map((trial) => trial.value)), x = scale([1, Math.max(2, last)], [left + 10, right]), y = scale(range, [bottom, top]);
    yAxis(svg, y, range, [left, right]);
    for (const number of trialTicks(last, width)) svg.append(s("text", { x: x(number), y: bottom + 18, "text-anchor": "middle" }, String(number)));
    svg.append(s("text", { x: (left + right) / 2, y: bottom + 36, "text-anchor": "middle" }, "trial"),
      s("path", { d: bestSoFar(trials, x, y), fill: "none", stroke: "var(--before)", "stroke-width": 1.5 }),
      ...[...trials].sort((a, b) => a.chosen - b.chosen).map((trial) => trialMark(trial, x, y, bottom)),
      s("text", { class: "label halo", x: x(chosen.number), y: y(chosen.value) - 11, "text-anchor": chosen.number === 1 ? "start" : chosen.number === last ? "end" : "middle" }, "chosen"));
  };
  const numbers = table([{ label: "trial", right: true, value: (row) => row.number }, { label: "state", value: (row) => row.state, cell: (row) => (row.chosen ? "chosen" : row.state) },
    { label: measure, right: true, value: (row) => row.value, cell: (row) => fixed(row.value) }, { label: "best so far", right: true, value: (row) => row.best_so_far, cell: (row) => fixed(row.best_so_far) },
    { label: "folds", right: true, value: (row) => row.folds },
    trials.some((trial) => trial.refusal) ? { label: "why not", class: "text", value: (row) => row.refusal } : null].filter(Boolean), trials, { label: "Value by trial: numbers" });
  const label = `${measure} of ${count(trials.length, "trial")}: the best has ${fixed(trials[trials.length - 1].best_so_far)}; trial ${chosen.number} was chosen with ${fixed(chosen.value)}.`;
  return chart({ label, height: (width) => (width < 500 ? 260 : 320), draw, numbers });
}

/** The first trial, and round numbers after it. */
function trialTicks(last, width) {
  const round = ticks(1, last, Math.min(last, width < 500 ? 5 : 12)).filter((number) => Number.isInteger(number) && number > 1);
  return [1, ...round];
}

/** A line that rises where a trial is better than all before. */
function bestSoFar(trials, x, y) {
  const points = [];
  for (const trial of trials.filter((one) => one.best_so_far !== null)) {
    if (points.length) points.push([x(trial.number), points[points.length - 1][1]]);
    points.push([x(trial.number), y(trial.best_so_far)]);
  }
  return path(points);
}

// ---- which settings matter ---------------------------------------------------------------------------------------------

function settingsImportance({ settings }) {
  const known = settings.filter((setting) => setting.importance !== null).sort((a, b) => b.importance - a.importance), row = 26;
  const draw = (svg, width) => {
    const left = Math.min(200, width * 0.38), x = scale([0, known[0].importance], [left, width - 48]);
    known.forEach((setting, k) => {
      const y = k * row + row / 2, tip = x(setting.importance);
      svg.append(s("text", { class: "label", x: left - 10, y: y + 4, "text-anchor": "end" }, cut(setting.name, left / 7), s("title", {}, setting.name)),
        s("rect", { x: left, width: Math.max(1, tip - left), y: y - 6, height: 12, rx: 1, style: { fill: "var(--after)" } }),
        s("text", { x: tip + 6, y: y + 4 }, percent(setting.importance)));
    });
  };
  const numbers = table([{ label: "setting", class: "text", value: (one) => one.name }, { label: "share", right: true, value: (one) => one.importance, cell: (one) => percent(one.importance) }], known, { label: "Importance of settings: numbers" });
  return h("div", {}, h("h3", {}, "Which settings matter"),
    h("p", { class: "lead" }, "How far the best tenth of the complete trials differs from all of them in each setting, as shares of the whole (PED-ANOVA). With few trials this is rough."),
    chart({ label: `Importance of settings: ${known.slice(0, 3).map((one) => `${one.name} ${percent(one.importance)}`).join(", ")}.`, height: known.length * row + 4, draw, numbers }));
}

// ---- which settings go together ----------------------------------------------------------------------------------------

/** One axis per setting, and one for the value; on narrow pages the axes lie on their side, one below the other. */
function parallelCoordinates(found, complete) {
  const axes = [...found.settings.map(settingAxis), valueAxis(found, complete)], worstFirst = inOrder(found, complete).reverse();
  // By order, not by value: beside one very bad trial all others would have one colour.
  const share = scale([0, Math.max(1, complete.length - 1)], [0, 1]), colours = new Map(worstFirst.map((trial, place) => [trial, strength(share(place))]));
  const ordered = [...worstFirst].sort((a, b) => a.chosen - b.chosen);
  const lies = (width) => width < axes.length * 118;
  const draw = (svg, width, height) => {
    const flat = lies(width), along = flat ? scale([0, axes.length - 1], [34, height - 24]) : scale([0, axes.length - 1], [64, width - 76]);
    const across = flat ? [16, width - 16] : [height - 16, 44];
    const at = (k, share) => { const place = across[0] + share * (across[1] - across[0]); return flat ? [place, along(k)] : [along(k), place]; };
    for (const trial of ordered) {
      const points = axes.map((axis, k) => at(k, axis.place(trial)));
      svg.append(s("path", { class: "line", d: path(points), fill: "none", stroke: trial.chosen ? CHOSEN : colours.get(trial), "stroke-width": trial.chosen ? 3 : 1.5, "stroke-linejoin": "round" }, s("title", {}, trialText(trial))));
    }
    axes.forEach((axis, k) => svg.append(...axisParts(axis, (share) => at(k, share), flat ? width : along(1) - along(0), flat ? "below" : k === axes.length - 1 ? "right" : "left")));
  };
  const numbers = trialsTable(found, inOrder(found, complete), "Settings of all complete trials: numbers");
  const chosen = complete.find((trial) => trial.chosen);
  const label = `Settings and ${found.measure} of ${count(complete.length, "complete trial")}. Chosen: ` +
    found.settings.map((setting, k) => `${setting.name} ${shownSetting(chosen.settings[k])}`).join(", ") + ".";
  return h("div", {}, h("h3", {}, "Which settings go together"),
    h("p", { class: "lead" }, `Every complete trial is a line through its settings; the better its ${found.measure}, the stronger its colour.`),
    legend([["chosen", CHOSEN], ["best", strength(1)], ["worst", strength(0)]]),
    chart({ label, height: (width) => (lies(width) ? axes.length * 62 : 380), draw, numbers }));
}

/** From the worst, 0, which must still be seen on the page, to the best, 1. */
const strength = (share) => `color-mix(in oklab, var(--high) ${Math.round(25 + 75 * share)}%, var(--low))`;

/** {name, place: trial → share of the axis, marks: [[share, text], …]}. */
function settingAxis({ name, scale: kind, low, high, choices }, k) {
  if (kind === "choices") {
    const share = (text) => (choices.length === 1 ? 0.5 : choices.indexOf(text) / (choices.length - 1));
    return { name, place: (trial) => share(trial.settings[k]), marks: choices.map((text) => [share(text), text]) };
  }
  const bent = kind === "log" ? Math.log : (value) => value, share = scale([bent(low), bent(high)], [0, 1]);
  const marks = (kind === "log" ? logTicks(low, high) : ticks(low, high)).map((value) => [share(bent(value)), short(value)]);
  return { name, place: (trial) => share(bent(trial.settings[k])), marks };
}

function valueAxis({ measure }, complete) {
  const range = padded(complete.map((trial) => trial.value), 0.04), share = scale(range, [0, 1]);
  return { name: measure, place: (trial) => share(trial.value), marks: ticks(...range).map((value) => [share(value), short(value)]) };
}

/** 1, 2 and 5 times the powers of 10 in a range; the powers alone where that is many. */
function logTicks(low, high) {
  const found = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1) {
    for (const digit of high / low > 1000 ? [1] : [1, 2, 5]) found.push(Number((digit * 10 ** power).toPrecision(6)));
  }
  return found.filter((value) => value >= low * 0.999 && value <= high * 1.001);
}

/** The line of an axis with its name and, on the side given, its marks; marks too near to another are left out. */
function axisParts({ name, marks }, at, room, side) {
  const flat = side === "below", [[x1, y1], [x2, y2]] = [at(0), at(1)], parts = [s("line", { class: "zero", x1, y1, x2, y2 })];
  const [right, down, anchor] = { below: [0, 16, "middle"], left: [-6, 4, "end"], right: [6, 4, "start"] }[side];
  let end = -Infinity;
  for (const [share, text] of marks) {
    const [x, y] = at(share), shown = cut(text, 9), here = flat ? x : -y, half = flat ? shown.length * 3.5 + 3 : 7.5;
    if (here - half < end) continue;
    end = here + half;
    parts.push(s("text", { class: "halo", x: x + right, y: y + down, "text-anchor": anchor }, shown, s("title", {}, text)));
  }
  const most = (room - 12) / 7, title = s("title", {}, name);
  return [...parts, flat ? s("text", { class: "label halo", x: 0, y: y1 - 10 }, cut(name, most), title)
    : s("text", { class: "label", x: x2, y: y2 - 20, "text-anchor": "middle" }, cut(name, most), title)];
}

// ---- tables ------------------------------------------------------------------------------------------------------------

const shownSetting = (value) => (typeof value === "number" ? short(value) : value);

/** The best first. */
const inOrder = (found, trials) => [...trials].sort((a, b) => (found.higher_is_better ? b.value - a.value : a.value - b.value));

function trialsTable(found, trials, label) {
  const column = (name, key, show) => ({ label: name, right: true, value: (row) => row[key], cell: (row) => (show ? show(row[key]) : String(row[key])) });
  return table([
    { ...column("trial", "number"), cell: (row) => [String(row.number), row.chosen ? h("span", { class: "sr" }, " (chosen)") : null] },
    { ...column(found.measure, "value", fixed), first: found.higher_is_better ? "descending" : "ascending" },
    ...found.settings.map((setting, k) => ({ label: setting.name, right: true, value: (row) => row.settings[k], cell: (row) => shownSetting(row.settings[k]) })),
    ...(found.folds ? [column("folds", "folds")] : []), column("rounds", "rounds"), column("seconds", "seconds", (value) => fixed(value, 1)),
  ], trials, { label, cards: "pairs", rowClass: (row) => (row.chosen ? "chosen" : null) });
}

/** The best trials; the one chosen is always among them. */
function bestTrials(found, complete) {
  const shown = inOrder(found, complete).filter((trial, place) => place < BEST_SHOWN || trial.chosen);
  return h("div", {}, h("h3", {}, "Best trials"), trialsTable(found, shown, "Best trials"),
    leftOut(complete.length - shown.length, "complete trial", `with ${found.higher_is_better ? "lower" : "higher"} values`));
}
