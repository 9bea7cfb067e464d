"use strict";
// Elements and numbers. Texts go onto the page as text nodes only: nothing in the data is ever read as HTML.

/** h("p", {class: "lead"}, "text", node, …): an element; what is null or undefined is left out. */
function h(tag, attributes, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** The same for drawings. */
function s(tag, attributes, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "style") Object.assign(element.style, value);
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

const MINUS = "\u2212";

/** A text whose negative numbers have a proper sign; hyphens inside words stay. */
const minus = (text) => text.replace(/(^|\s)-(?=\d)/g, `$1${MINUS}`);

/** A number with fixed decimals; a dash where there is none. */
function fixed(value, decimals = 4) {
  if (value === null || value === undefined) return "–";
  const text = value.toFixed(decimals);
  return (Number(text) === 0 ? (0).toFixed(decimals) : text).replace("-", MINUS);
}

function signed(value, decimals = 4) {
  if (value === null || value === undefined) return "–";
  return (Number(value.toFixed(decimals)) > 0 ? "+" : "") + fixed(value, decimals);
}

/** A number with a few digits that matter. */
function short(value, digits = 4) {
  if (value === null || value === undefined) return "–";
  return String(Number(value.toPrecision(digits))).replace("-", MINUS);
}

const percent = (share) => (share * 100).toFixed(share > 0 && share < 0.0995 ? 1 : 0) + "%";
const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

const queryCount = (number) => `${number.toLocaleString("en")} ${number === 1 ? "query" : "queries"}`;

/** better, worse, or nothing: the class of a difference. */
function tone(difference, higher, decimals = 4) {
  const shown = Number((difference || 0).toFixed(decimals));
  return shown === 0 ? "soft" : shown > 0 === higher ? "better" : "worse";
}

/** The colour of a grade among all. */
function gradeColours(grades) {
  const levels = [...new Set(grades)].sort((a, b) => a - b);
  const lowest = levels[0], range = levels[levels.length - 1] - lowest || 1;
  return (grade) => {
    const share = (grade - lowest) / range, upper = share >= 0.5;
    // On colours in the middle neither letters of paper nor of ink can be read: the lower half ends at 35%, the upper begins at 67%.
    const high = Math.round(upper ? 100 - (1 - share) * 66 : share * 70);
    return { background: `color-mix(in oklab, var(--high) ${high}%, var(--low))`, color: upper ? "var(--paper)" : "var(--ink)" };
  };
}

/**
 * A table. Columns: {label, value: row → number or text, cell: row → node or text, right, class, first: "ascending" or
 * "descending", short}; those with a value can be sorted by, with a button in their heading. ``cards``: the class of a table
 * whose rows become cards on a narrow page, each cell beside its heading, or beside ``short``, a shorter one; other tables
 * that are too wide are moved sideways.
 */
function table(columns, rows, { caption, label, rowClass, sorted, cards } = {}) {
  // A browser takes a table that is laid out as cards for no table, unless its parts say what they are.
  const role = (name) => (cards ? name : null);
  const body = h("tbody", { role: role("rowgroup") });
  const fill = (ordered) => body.replaceChildren(...ordered.map((row) => h("tr", { class: rowClass && rowClass(row), role: role("row") },
    columns.map((column) => h("td", { class: cellClass(column), role: role("cell"), "data-label": cards ? column.short || textOf(column.label) : null },
      column.cell ? column.cell(row) : column.value(row))))));
  const headings = columns.map((column) => h("th", { scope: "col", class: cellClass(column), role: role("columnheader") }));
  const sortBy = (place, way) => {
    const { value } = columns[place], sign = way === "ascending" ? 1 : -1;
    const keyed = rows.map((row, number) => [value(row), number, row]);
    keyed.sort((a, b) => sign * compared(a[0], b[0], sign) || a[1] - b[1]);
    headings.forEach((heading, other) => {
      if (columns[other].value) heading.setAttribute("aria-sort", other === place ? way : "none");
    });
    fill(keyed.map((entry) => entry[2]));
  };
  columns.forEach((column, place) => {
    const heading = headings[place];
    if (!column.value || rows.length < 2) { heading.append(column.label); return; }
    heading.setAttribute("aria-sort", "none");
    heading.append(h("button", { type: "button", onclick: () => {
      const now = heading.getAttribute("aria-sort"), first = column.first || (column.right ? "descending" : "ascending");
      sortBy(place, now === "none" ? first : now === "ascending" ? "descending" : "ascending");
    } }, column.label));
  });
  fill(rows);
  if (sorted && rows.length > 1) headings[sorted[0]].setAttribute("aria-sort", sorted[1]);
  const element = h("table", { class: cards ? `cards ${cards}` : null, role: role("table") }, caption ? h("caption", {}, caption) : null,
    h("thead", { role: role("rowgroup") }, h("tr", { role: role("row") }, headings)), body);
  return scrolling(h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label || caption }, element));
}

const textOf = (label) => (typeof label === "string" ? label : "");

/** Mark a box whose content goes on to the right of what is seen, so that it fades there. */
function scrolling(box) {
  const mark = () => box.classList.toggle("more-right", box.scrollWidth - box.clientWidth - box.scrollLeft > 2);
  box.addEventListener("scroll", mark, { passive: true });
  new ResizeObserver(mark).observe(box);
  return box;
}

function cellClass(column) {
  return [column.right ? "r" : "", column.class || ""].join(" ").trim() || null;
}

/** What is undefined comes last, whichever way. */
function compared(a, b, sign) {
  if (a === null || b === null || a === undefined || b === undefined) {
    return sign * (Number(a === null || a === undefined) - Number(b === null || b === undefined));
  }
  return typeof a === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
}

function section(id, title, lead, ...children) {
  return h("section", { id, "aria-labelledby": `${id}-title` }, h("h2", { id: `${id}-title` }, title),
    lead ? h("p", { class: "lead" }, lead) : null, children);
}

function legend(entries) {
  return h("ul", { class: "legend" }, entries.map(([name, background]) => h("li", {}, h("i", { style: { background } }), name)));
}
