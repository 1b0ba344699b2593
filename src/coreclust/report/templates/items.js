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
    possible: (items.possible[i] || []).map((g) => clusters[g].name).join(", "),
  };
});

const undecided = new Set(items.undecided);  // at the fitted alpha
function status(row) {
  if (row.line[place] === TRIMMED) return "trimmed";
  if (row.line[place] !== WEAK) return "core";
  return place === report.fitted && undecided.has(row.i) ? "undecided" : "weak";
}
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
  { name: "Possible clusters", key: (row) => row.possible, text: (row) => row.possible || "–" },
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

// "cluster 0" finds the items of cluster 0, and not those of cluster 10.
function matches(row, wanted) {
  const has = (cell) => String(cell).toLowerCase().includes(wanted);
  if (has(row.id) || has(row.cluster) || has(status(row))) return true;
  return row.g >= 0 && wanted === `cluster ${String(row.cluster).toLowerCase()}`;
}

// ---- the choice of clusters ----

const chosen = new Set();
let only = [];  // the same; another array only if the choice changes, which makes the chart draw all

function choose(codes) {
  chosen.clear();
  codes.forEach((code) => chosen.add(code));
  only = [...chosen];
  document.querySelectorAll("#legend .chip").forEach((chip) =>
    chip.setAttribute("aria-pressed", String(chosen.has(Number(chip.dataset.cluster)))));
  document.querySelectorAll("#profiles tbody, #classes tr[data-cluster], #audit tr[data-cluster]").forEach((part) => {
    part.hidden = chosen.size > 0 && !chosen.has(Number(part.dataset.cluster));
  });
  $("show-all").disabled = chosen.size === 0;
  page = 0;
  refind();
}

function makeLegend() {
  const chips = [...document.querySelectorAll("#legend .chip")];
  chips.forEach((chip, c) => {
    const code = Number(chip.dataset.cluster);
    chip.addEventListener("click", () => choose(chosen.has(code) ? [...chosen].filter((one) => one !== code) : [...chosen, code]));
    ["mouseenter", "focus"].forEach((name) => chip.addEventListener(name, () => { lit = code; redraw(); }));
    ["mouseleave", "blur"].forEach((name) => chip.addEventListener(name, () => { lit = -1; redraw(); }));
    // One stop of the tab key; the arrow keys go on from there.
    chip.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const next = chips[(c + step + chips.length) % chips.length];
      chip.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
  });
  $("show-all").addEventListener("click", () => choose([]));
}

function showItems(codes, only) {
  $("search").value = "";
  $("status").value = [...$("status").options].some((option) => option.value === only) ? only : "";
  choose(codes);
  $("items").scrollIntoView();
  $("search").focus({ preventScroll: true });
}

function refind() {
  const wanted = $("search").value.trim().toLowerCase();
  const only = $("status").value;
  found = rows;
  if (chosen.size) found = found.filter((row) => chosen.has(row.g));
  if (only) found = found.filter((row) => status(row) === only || (only === "weak" && status(row) === "undecided"));
  if (wanted) found = found.filter((row) => matches(row, wanted));
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
  const head = ["item", "cluster", "status", "strength", "closest_other_cluster", "closest_share", "possible_clusters", "core_from_alpha", "alpha"];
  const lines = found.map((row) =>
    [row.id, row.cluster, status(row), row.strength, row.closest, row.share, row.possible, row.from, alphas[place]]);
  return [head, ...lines].map((line) => line.map(csvCell).join(",")).join("\r\n") + "\r\n";
}

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function download() {
  // The byte order mark tells spreadsheets that the text is UTF-8.
  save(new Blob(["\ufeff", csv()], { type: "text/csv;charset=utf-8" }), "core_clusters.csv");
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
  $("alpha-least").textContent = String(Number((100 * (1 - alphas[place])).toFixed(6)));
  document.querySelector(".headline").textContent = report.headlines[place];
  document.querySelector(".explanation").textContent = report.explanations[place];
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

