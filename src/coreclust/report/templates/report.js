(function () {
"use strict";

const $ = (id) => document.getElementById(id);
const report = JSON.parse($("data").textContent);
const { alphas, clusters, items } = report;
const PAGE = 25;
let place = report.fitted;

// The status of an item at each alpha, as one letter: weak, trimmed, or the letter of its color.
// A lookup by letter is fast enough for thousands of items at each move of the slider.
const WEAK = "-", TRIMMED = "*";
const letter = (color) => String.fromCharCode(97 + color);
function lineOf(switches, cluster) {
  if (cluster < 0) return TRIMMED.repeat(alphas.length);
  if (switches === -1) return WEAK.repeat(alphas.length);
  const at = Array.isArray(switches) ? switches : [switches];
  const filled = letter(cluster % report.nColors);
  let line = "", core = false;
  for (let a = 0; a < alphas.length; a++) {
    if (at.includes(a)) core = !core;
    line += core ? filled : WEAK;
  }
  return line;
}

const rows = items.id.map((id, i) => {
  const line = lineOf(items.core[i], items.cluster[i]);
  const first = line.search(/[a-z]/);
  return {
    i, id, line, x: items.x[i], y: items.y[i], g: items.cluster[i],
    cluster: items.cluster[i] < 0 ? "" : clusters[items.cluster[i]].name,
    strength: items.strength[i],
    closest: items.closest[i] < 0 ? "" : clusters[items.closest[i]].name,
    share: items.closest[i] < 0 ? null : items.share[i],
    from: first < 0 ? null : alphas[first],
  };
});

const status = (row) => ({ [WEAK]: "weak", [TRIMMED]: "trimmed" })[row.line[place]] || "core";
const percent = (share) => (share > 0 && share < 0.0005 ? "< 0.1 %" : (100 * share).toFixed(1) + " %");
const fixed = (value) => (value === null ? "unknown" : value.toFixed(3));
const closest = (row) => (row.share === null ? "none" : `${row.closest} (${percent(row.share)})`);

// ---- the table of items ----

const COLUMNS = [
  { name: "Item", key: (row) => row.id, text: (row) => String(row.id) },
  { name: "Cluster", key: (row) => row.cluster, text: (row) => String(row.cluster) || "–" },
  { name: "Status", key: status, text: status },
  { name: "Strength", key: (row) => row.strength, text: (row) => fixed(row.strength), number: true },
  { name: "Closest other cluster", key: (row) => row.share, text: closest },
  { name: "Core from alpha", key: (row) => row.from, text: (row) => (row.from === null ? "never" : String(row.from)), number: true },
];
let order = { column: 0, up: true, given: true };  // at first in the order given
let page = 0;
let found = rows;

function compare(left, right) {
  const missing = (value) => value === null || value === "";
  if (missing(left) || missing(right)) return missing(left) - missing(right);
  if (typeof left === "number" && typeof right === "number") return left - right;
  return collator.compare(String(left), String(right));
}
const collator = new Intl.Collator("en", { numeric: true });

function refind() {
  const wanted = $("search").value.trim().toLowerCase();
  found = rows;
  if (wanted) {
    found = rows.filter((row) =>
      [row.id, row.cluster, status(row)].some((cell) => String(cell).toLowerCase().includes(wanted)));
  }
  if (!order.given) {
    const key = COLUMNS[order.column].key;
    const keyed = found.map((row) => [key(row), row]);
    const empty = (value) => value === null || value === "";
    // Missing values come last in both directions.
    keyed.sort((a, b) => (empty(a[0]) || empty(b[0]) || order.up ? 1 : -1) * compare(a[0], b[0]) || a[1].i - b[1].i);
    found = keyed.map((pair) => pair[1]);
  }
  $("found").textContent = `${found.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")} items`;
  page = Math.min(page, Math.max(Math.ceil(found.length / PAGE) - 1, 0));
  showPage();
  redraw();
}

function showPage() {
  const body = document.querySelector("#item-table tbody");
  body.replaceChildren(...found.slice(page * PAGE, (page + 1) * PAGE).map((row) => {
    const line = document.createElement("tr");
    COLUMNS.forEach((column, c) => {
      const cell = document.createElement(c ? "td" : "th");
      if (!c) cell.scope = "row";
      if (column.number) cell.className = "number";
      cell.textContent = column.text(row);
      line.append(cell);
    });
    return line;
  }));
  const last = Math.max(Math.ceil(found.length / PAGE), 1);
  $("page-number").textContent = `Page ${page + 1} of ${last}`;
  $("previous").disabled = page === 0;
  $("next").disabled = page >= last - 1;
}

function makeHead() {
  const head = document.querySelector("#item-table thead tr");
  COLUMNS.forEach((column, c) => {
    const cell = document.createElement("th");
    const button = document.createElement("button");
    cell.scope = "col";
    if (column.number) cell.className = "number";
    button.type = "button";
    button.textContent = column.name;
    button.addEventListener("click", () => {
      order = { column: c, up: order.given || order.column !== c ? true : !order.up, given: false };
      head.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
      cell.setAttribute("aria-sort", order.up ? "ascending" : "descending");
      page = 0;
      refind();
    });
    cell.append(button);
    head.append(cell);
  });
}

// ---- the CSV file ----

function csvCell(value) {
  if (value === null) return "";
  let text = String(value);
  if (typeof value === "string" && /^[=+\-@\t\r]/.test(text)) text = "'" + text;
  return /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text;
}

function csv() {
  const head = ["item", "cluster", "status", "strength", "closest_other_cluster", "closest_share", "core_from_alpha", "alpha"];
  const lines = found.map((row) =>
    [row.id, row.cluster, status(row), row.strength, row.closest, row.share, row.from, alphas[place]]);
  return [head, ...lines].map((line) => line.map(csvCell).join(",")).join("\r\n") + "\r\n";
}

function download() {
  const link = document.createElement("a");
  // The byte order mark tells spreadsheets that the text is UTF-8.
  link.href = URL.createObjectURL(new Blob(["\ufeff", csv()], { type: "text/csv;charset=utf-8" }));
  link.download = "core_clusters.csv";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// ---- the slider ----

function showAlpha() {
  const core = clusters.reduce((sum, cluster) => sum + cluster.cores[place], 0);
  const weak = report.nItems - report.nTrimmed - core;
  const trimmed = report.nTrimmed ? `, ${report.nTrimmed.toLocaleString("en")} trimmed` : "";
  const words = `${core.toLocaleString("en")} core, ${weak.toLocaleString("en")} weak${trimmed}` +
    (report.proven[place] ? "" : "; the cores are not proven to be the largest possible");
  const alpha = String(alphas[place]);
  $("alpha").value = place;
  $("alpha").setAttribute("aria-valuetext", `${alpha}: ${words}`);
  $("alpha-value").textContent = alpha;
  $("alpha-count").textContent = words;
  $("reset").disabled = place === report.fitted;
  document.querySelectorAll(".alpha-now").forEach((element) => { element.textContent = alpha; });
  document.querySelectorAll("#clusters tbody tr").forEach((line, c) => {
    if (c >= clusters.length) return;
    const { size, cores } = clusters[c];
    line.querySelector("[data-live=core]").textContent = cores[place].toLocaleString("en");
    line.querySelector("[data-live=weak]").textContent = (size - cores[place]).toLocaleString("en");
    line.querySelector("[data-live=share]").textContent = percent(1 - cores[place] / size);
  });
  refind();
}

// ---- the charts ----

let views = [];
const SHAPES = report.markers;
const STAR = "M0,-1.1L0.3,-0.35L1.05,-0.34L0.48,0.16L0.65,0.89L0,0.5L-0.65,0.89L-0.48,0.16L-1.05,-0.34L-0.3,-0.35Z";

function colors() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(name).trim();
  const [ink, faint, paper, grid] = ["--ink", "--faint", "--paper", "--grid"].map(read);
  const palette = Array.from({ length: report.nColors }, (_, c) => read(`--c${c}`));
  const paints = { [WEAK]: paper, [TRIMMED]: faint };
  palette.forEach((color, c) => { paints[letter(c)] = color; });
  return { ink, faint, paper, grid, palette, paints };
}

function signals(more) {
  return Object.entries({ place, ...colors(), ...more }).map(([name, value]) => ({ name, value }));
}

function axis(orient, scale, title) {
  const faint = { signal: "faint" };
  return {
    orient, scale, title, grid: true, tickCount: 6, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal",
    labelColor: faint, titleColor: faint, domainColor: faint, tickColor: faint, gridColor: { signal: "grid" },
  };
}

function scatter() {
  const area = Math.max(14, Math.min(70, 30000 / rows.length));
  return {
    autosize: { type: "fit", contains: "padding" }, padding: 4,
    signals: signals({ shapes: SHAPES, star: STAR, levels: { [WEAK]: 1 }, hits: "", searching: false, xTitle: report.axes[0], yTitle: report.axes[1] }),
    data: [{ name: "items", values: rows.filter((row) => row.x !== null).map(({ i, x, y, g, line }) => ({ i, x, y, g, line })) }],
    scales: [
      { name: "x", type: "linear", range: "width", zero: false, nice: true, domain: { data: "items", field: "x" } },
      { name: "y", type: "linear", range: "height", zero: false, nice: true, domain: { data: "items", field: "y" } },
    ],
    axes: [axis("bottom", "x", { signal: "xTitle" }), axis("left", "y", { signal: "yTitle" })],
    marks: [{
      type: "symbol", name: "points", from: { data: "items" },
      encode: {
        enter: {
          x: { scale: "x", field: "x" }, y: { scale: "y", field: "y" },
          shape: { signal: "datum.g < 0 ? star : shapes[datum.g % length(shapes)]" },
          stroke: { signal: "datum.g < 0 ? faint : palette[datum.g % length(palette)]" },
          size: { value: area }, strokeWidth: { value: area > 30 ? 1.4 : 1 }, tooltip: { field: "i" },
        },
        update: {  // weak items on top: they are fewer and of more interest
          fill: { signal: "paints[datum.line[place]]" },
          zindex: { signal: "levels[datum.line[place]]" },
          opacity: { signal: "searching && hits[datum.i] !== '1' ? 0.12 : 1" },
        },
      },
    }],
  };
}

function curve() {
  const trimmed = report.nTrimmed;
  const lines = clusters.map((cluster, g) => ({ g, name: `cluster ${cluster.name}`, size: cluster.size, cores: cluster.cores }));
  const sums = alphas.map((_, a) => clusters.reduce((sum, cluster) => sum + cluster.cores[a], 0));
  lines.unshift({ g: -1, name: trimmed ? "all items, including trimmed ones" : "all items", size: report.nItems, cores: sums });
  const values = lines.flatMap(({ g, name, size, cores }) =>
    cores.map((core, a) => ({ g, a, alpha: alphas[a], weak: 1 - core / size, text: `${name}\nalpha ${alphas[a]}: ${percent(1 - core / size)} weak` })));
  const top = Math.min(Math.max(0.1, ...values.map(({ weak }) => weak)), 1);
  const color = { signal: "datum.g < 0 ? faint : palette[datum.g % length(palette)]" };
  return {
    autosize: { type: "fit", contains: "padding" }, padding: 4,
    signals: signals({ alphas, shapes: SHAPES, step: Math.max(Math.floor(alphas.length / 7), 1) }),
    data: [{ name: "path", values }],
    scales: [
      { name: "x", type: "linear", range: "width", zero: true, domain: { data: "path", field: "alpha" } },
      { name: "y", type: "linear", range: "height", domain: [0, top], nice: true },
    ],
    axes: [axis("bottom", "x", "alpha"), { ...axis("left", "y", "weak fraction"), format: ".0%" }],
    marks: [
      { type: "rule", encode: { update: {
        x: { scale: "x", signal: "alphas[place]" }, y: { value: 0 }, y2: { signal: "height" },
        stroke: { signal: "ink" }, strokeDash: { value: [2, 3] }, strokeWidth: { value: 1.5 },
      } } },
      { type: "group", from: { facet: { name: "one", data: "path", groupby: "g" } }, marks: [
        { type: "line", from: { data: "one" }, encode: { update: {
          x: { scale: "x", field: "alpha" }, y: { scale: "y", field: "weak" }, stroke: color,
          strokeWidth: { signal: "datum.g < 0 ? 4 : 1.8" }, strokeOpacity: { signal: "datum.g < 0 ? 0.6 : 1" },
        } } },
        { type: "symbol", from: { data: "one" }, encode: { update: {
          x: { scale: "x", field: "alpha" }, y: { scale: "y", field: "weak" },
          shape: { signal: "datum.g < 0 ? 'circle' : shapes[datum.g % length(shapes)]" },
          fill: color, size: { value: 60 }, tooltip: { field: "text" },
          // All markers have a tooltip; few are visible, at different places on each line.
          opacity: { signal: "datum.g >= 0 && datum.a % step === datum.g % step ? 1 : 0" },
        } } },
      ] },
    ],
  };
}

function describe(i) {
  const row = rows[i];
  const cluster = row.g < 0 ? "in no cluster" : `cluster ${row.cluster}`;
  return `${row.id}\n${cluster}, ${status(row)}\nstrength ${fixed(row.strength)}\nclosest other cluster: ${closest(row)}`;
}

function showTip(_, event, item, value) {
  const tip = $("tip");
  tip.hidden = value === null || value === undefined || value === "";
  if (tip.hidden) return;
  tip.textContent = typeof value === "number" ? describe(value) : value;
  const { clientX, clientY } = event;
  const left = Math.min(clientX + 14, document.documentElement.clientWidth - tip.offsetWidth - 8);
  const above = clientY + 14 + tip.offsetHeight > window.innerHeight;
  tip.style.left = `${Math.max(left, 8)}px`;
  tip.style.top = `${above ? clientY - tip.offsetHeight - 10 : clientY + 14}px`;
}

// At most once per frame, even if the slider moves faster.
let waiting = false;
function redraw() {
  if (waiting || !views.length) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    const searching = found.length < rows.length;
    const hits = new Array(rows.length).fill("0");
    if (searching) found.forEach((row) => { hits[row.i] = "1"; });
    views[0].signal("hits", searching ? hits.join("") : "").signal("searching", searching);
    views.forEach((view) => view.signal("place", place).runAsync());
  });
}

async function draw(id, spec) {
  const element = $(id);
  if (element.view) element.view.finalize();
  const size = { width: element.clientWidth, height: element.clientHeight };
  const { view } = await window.vegaEmbed(element, { ...spec, ...size }, {
    mode: "vega", renderer: "canvas", actions: false, ast: true, tooltip: showTip, defaultStyle: false,
  });
  element.view = view;
  return view;
}

async function drawAll() {
  document.body.classList.add("charts");
  try {
    views = [await draw("scatter", scatter()), await draw("curve", curve())];
    redraw();
    document.body.dataset.ready = "yes";
  } catch (error) {  // the static pictures stay visible
    document.body.classList.remove("charts");
    console.error(error);
  }
}

// Draw again when the window is resized or the color scheme changes.
function drawWhenItChanges() {
  const width = () => $("scatter").clientWidth;
  let drawn = width(), timer = 0;
  const later = () => { clearTimeout(timer); timer = setTimeout(drawAll, 100); };
  new ResizeObserver(() => {
    if (width() && width() !== drawn) { drawn = width(); later(); }
  }).observe($("scatter"));
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", later);
  document.querySelectorAll(".chart").forEach((element) =>
    element.addEventListener("mouseleave", () => { $("tip").hidden = true; }));
}

makeHead();
document.querySelectorAll(".scripted").forEach((element) => { element.hidden = false; });
$("alpha").addEventListener("input", (event) => { place = Number(event.target.value); showAlpha(); });
$("reset").addEventListener("click", () => { place = report.fitted; showAlpha(); });
$("search").addEventListener("input", () => { page = 0; refind(); });
$("previous").addEventListener("click", () => { page -= 1; showPage(); });
$("next").addEventListener("click", () => { page += 1; showPage(); });
$("download").addEventListener("click", download);
showAlpha();
drawAll().then(drawWhenItChanges);
})();
