// ---- the charts ----

let views = [];
let lit = -1;  // the cluster that is highlighted
let zoom = null;  // the shown part of the scatter plot: [[x0, x1], [y0, y1]]
const SHAPES = report.markers;
const STAR = "M0,-1.1L0.3,-0.35L1.05,-0.34L0.48,0.16L0.65,0.89L0,0.5L-0.65,0.89L-0.48,0.16L-1.05,-0.34L-0.3,-0.35Z";

function colors() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(name).trim();
  const [ink, faint, paper, grid, heat] = ["--ink", "--faint", "--paper", "--grid", "--heat"].map(read);
  const palette = Array.from({ length: report.nColors }, (_, c) => read(`--c${c}`));
  const paints = { [WEAK]: paper, [TRIMMED]: faint };
  palette.forEach((color, c) => { paints[letter(c)] = color; });
  return { ink, faint, paper, grid, heat, palette, paints };
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

// Items without a position are not drawn. The ends of the axes do not depend on the data of the
// chart, so that a change of some items does not make it compute all of them again.
const drawn = rows.filter((row) => row.x !== null && row.y !== null);
function ends(some, name) {
  return some.reduce(([low, high], row) => [Math.min(low, row[name]), Math.max(high, row[name])], [Infinity, -Infinity]);
}

// The area of a marker; it grows with the zoom, so that shapes can be told apart.
function area() {
  const usual = Math.max(14, Math.min(70, 30000 / rows.length));
  if (zoom === null) return usual;
  const [low, high] = ends(drawn, "x"), width = zoom[0][1] - zoom[0][0];
  return Math.max(usual, Math.min(70, usual * (high - low) / width));
}

function scatter() {
  const many = rows.length > 2000;
  return {
    autosize: { type: "fit", contains: "padding" }, padding: 4, background: { signal: "paper" },
    signals: signals({ area: area(), shapes: SHAPES, star: STAR, zoomX: zoom && zoom[0], zoomY: zoom && zoom[1], xTitle: report.axes[0], yTitle: report.axes[1] }),
    data: [{ name: "items", values: drawn.map((row) => ({ i: row.i, x: row.x, y: row.y, g: row.g, c: row.g % report.nColors, mark: row.line[place], dim: false })) }],
    scales: [
      { name: "x", type: "linear", range: "width", zero: false, nice: true, domain: ends(drawn, "x"), domainRaw: { signal: "zoomX" } },
      { name: "y", type: "linear", range: "height", zero: false, nice: true, domain: ends(drawn, "y"), domainRaw: { signal: "zoomY" } },
    ],
    axes: [axis("bottom", "x", { signal: "xTitle" }), axis("left", "y", { signal: "yTitle" })],
    marks: [{
      type: "symbol", name: "points", from: { data: "items" }, clip: true,
      encode: {
        enter: {
          shape: { signal: "datum.g < 0 ? star : shapes[datum.g % length(shapes)]" },
          strokeWidth: { value: area() > 30 ? 1.4 : 1 }, tooltip: { field: "i" },
        },
        update: {  // weak items on top: they are fewer and of more interest
          x: { scale: "x", field: "x" }, y: { scale: "y", field: "y" }, size: { signal: "area" },
          // The outline of a core item has the color of its inside; without it, many draw faster.
          stroke: { signal: `datum.mark === '${WEAK}' ? palette[datum.c] : ${many} && datum.g >= 0 ? null : paints[datum.mark]` },
          fill: { signal: "paints[datum.mark]" },
          zindex: { signal: `datum.mark === '${WEAK}' ? 1 : 0` },
          opacity: { signal: "datum.dim ? 0.1 : 1" },
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
  const shown = "(lit >= 0 ? lit === datum.g : !length(only) || indexof(only, datum.g) >= 0)";
  return {
    autosize: { type: "fit", contains: "padding" }, padding: 4, background: { signal: "paper" },
    signals: signals({ lit: -1, only, alphas, shapes: SHAPES, step: Math.max(Math.floor(alphas.length / 7), 1) }),
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
          strokeWidth: { signal: "datum.g < 0 ? 4 : 1.8" }, strokeOpacity: { signal: `!${shown} ? 0.1 : datum.g < 0 ? 0.6 : 1` },
        } } },
        { type: "symbol", from: { data: "one" }, encode: { update: {
          x: { scale: "x", field: "alpha" }, y: { scale: "y", field: "weak" },
          shape: { signal: "datum.g < 0 ? 'circle' : shapes[datum.g % length(shapes)]" },
          fill: color, size: { value: 60 }, tooltip: { field: "text" },
          // All markers have a tooltip; few are visible, at different places on each line.
          opacity: { signal: `datum.g >= 0 && datum.a % step === datum.g % step && ${shown} ? 1 : 0` },
        } } },
      ] },
    ],
  };
}

// One band for each cluster, with a row for its core and one for its weak items.
function heat() {
  const { order, core, weak } = report.confusion;
  const cells = [], marks = [];
  order.forEach((g, row) => {
    [["core", core[row]], ["weak", weak[row]]].forEach(([kind, shares], half) => {
      if (shares === null) return;
      const height = weak[row] === null ? 1 : 0.5;
      marks.push({ g, kind, y: row + half * height + height / 2, height });
      shares.forEach((share, column) => {
        if (share === null) return;
        const where = order[column] === g ? "their own core" : `the core of cluster ${clusters[order[column]].name}`;
        cells.push({ share, x: column, y: row + half * height, height,
          text: `${kind} items of cluster ${clusters[g].name}\nwith ${where} in ${percent(share)} of the resamples` });
      });
    });
  });
  const shorter = (g) => { const name = String(clusters[g].name); return name.length > 14 ? name.slice(0, 13) + "…" : name; };
  const names = order.map((g, row) => ({ row, name: shorter(g) }));
  const band = (at) => ({ signal: `${at} * width / n` });
  const tall = (at) => ({ signal: `${at} * height / n` });
  const text = { fill: { signal: "ink" }, text: { field: "name" }, fontSize: { signal: "min(12, max(7, 0.8 * height / n))" } };
  return {
    autosize: { type: "none" }, padding: { left: 110, right: 8, top: 48, bottom: 14 + 7 * Math.max(...names.map(({ name }) => name.length)) }, background: { signal: "paper" },
    signals: signals({ n: order.length, shapes: SHAPES }),
    data: [{ name: "cells", values: cells }, { name: "names", values: names }, { name: "kinds", values: marks }],
    scales: [{ name: "color", type: "linear", domain: [0, 1], range: [{ signal: "paper" }, { signal: "heat" }] }],
    legends: [{
      fill: "color", type: "gradient", orient: "top", direction: "horizontal", offset: 8, format: ".0%", values: [0, 0.5, 1],
      gradientLength: { signal: "max(60, min(140, width - 135))" }, gradientThickness: 9, gradientStrokeColor: { signal: "faint" }, gradientStrokeWidth: 1,
      title: "share of resamples", titleFontWeight: "normal", titleFontSize: 12, titleColor: { signal: "faint" }, titleLimit: 0,
      titleOrient: "left", titleAnchor: "middle", labelFontSize: 11, labelColor: { signal: "faint" }, labelFlush: true,
    }],
    marks: [
      { type: "rect", name: "squares", from: { data: "cells" }, encode: { update: {
        x: band("datum.x"), width: band("1"), y: tall("datum.y"), height: tall("datum.height"),
        fill: { scale: "color", field: "share" }, tooltip: { field: "text" },
      } } },
      { type: "rule", from: { data: "names" }, encode: { update: {
        x: { value: 0 }, x2: { signal: "width" }, y: tall("datum.row"), stroke: { signal: "grid" },
      } } },
      { type: "rule", from: { data: "names" }, encode: { update: {
        y: { value: 0 }, y2: { signal: "height" }, x: band("datum.row"), stroke: { signal: "grid" },
      } } },
      { type: "rect", encode: { update: {
        x: { value: 0 }, y: { value: 0 }, width: { signal: "width" }, height: { signal: "height" }, stroke: { signal: "faint" },
      } }, interactive: false },
      { type: "symbol", from: { data: "kinds" }, encode: { update: {
        x: { value: -9 }, y: tall("datum.y"), size: { signal: "min(60, max(10, pow(datum.height * height / n - 2, 2)))" },
        shape: { signal: "shapes[datum.g % length(shapes)]" }, stroke: { signal: "palette[datum.g % length(palette)]" },
        fill: { signal: "datum.kind === 'core' ? palette[datum.g % length(palette)] : paper" },
      } } },
      { type: "text", from: { data: "names" }, encode: { update: {
        ...text, x: { value: -20 }, y: tall("(datum.row + 0.5)"), align: { value: "right" }, baseline: { value: "middle" },
      } } },
      { type: "text", from: { data: "names" }, encode: { update: {
        ...text, fontSize: { signal: "min(12, max(5, 0.9 * width / n))" }, x: band("(datum.row + 0.5)"), y: { signal: "height + 6" }, align: { value: "right" }, baseline: { value: "middle" }, angle: { value: -90 },
      } } },
    ],
  };
}

// ---- zoom ----

function showZoom(part) {
  zoom = part;
  $("zoom-out").disabled = $("zoom-reset").disabled = zoom === null;
  if (views.length) views[0].signal("area", area()).signal("zoomX", zoom && zoom[0]).signal("zoomY", zoom && zoom[1]).runAsync();
}

function zoomBy(factor) {
  if (!views.length) return;
  const part = ["x", "y"].map((name) => {
    const [low, high] = views[0].scale(name).domain();
    const middle = (low + high) / 2, half = (high - low) / 2 * factor;
    return [middle - half, middle + half];
  });
  showZoom(part);
}

// Drag over the plot to choose the part to show.
function zoomByMouse() {
  const element = $("scatter"), box = $("zoom-box");
  let start = null;
  const at = (event) => {
    const frame = element.querySelector("canvas").getBoundingClientRect();
    const [left, top] = views[0].origin();
    return [event.clientX - frame.left - left, event.clientY - frame.top - top];
  };
  element.addEventListener("mousedown", (event) => {
    if (event.button || !views.length) return;
    event.preventDefault();
    start = { at: at(event), x: event.clientX, y: event.clientY };
  });
  window.addEventListener("mousemove", (event) => {
    if (!start) return;
    $("tip").hidden = true;
    box.hidden = false;
    box.style.left = `${Math.min(start.x, event.clientX)}px`;
    box.style.top = `${Math.min(start.y, event.clientY)}px`;
    box.style.width = `${Math.abs(start.x - event.clientX)}px`;
    box.style.height = `${Math.abs(start.y - event.clientY)}px`;
  });
  window.addEventListener("mouseup", (event) => {
    if (!start) return;
    const from = start.at, to = at(event);
    start = null;
    box.hidden = true;
    if (Math.abs(from[0] - to[0]) < 8 || Math.abs(from[1] - to[1]) < 8) return;
    showZoom(["x", "y"].map((name, d) => [from[d], to[d]].map((pixel) => views[0].scale(name).invert(pixel)).sort((a, b) => a - b)));
  });
  element.addEventListener("dblclick", () => showZoom(null));
}

// ---- figures as files ----

async function saveFigure(name, format) {
  const view = $(name) && $(name).view;
  if (!view) {  // a picture, which an SVG can hold
    const picture = $(`${name}-picture`);
    const bytes = Uint8Array.from(atob(picture.src.split(",")[1]), (letter) => letter.charCodeAt(0));
    if (format === "png") return save(new Blob([bytes], { type: "image/png" }), `${name}.png`);
    const { naturalWidth: width, naturalHeight: height, src } = picture;
    const text = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><image width="${width}" height="${height}" href="${src}"/></svg>`;
    return save(new Blob([text], { type: "image/svg+xml" }), `${name}.svg`);
  }
  if (format === "svg") return save(new Blob([await view.toSVG()], { type: "image/svg+xml" }), `${name}.svg`);
  const canvas = await view.toCanvas(2);
  return canvas.toBlob((blob) => save(blob, `${name}.png`), "image/png");
}

function describe(i) {
  const row = rows[i];
  const cluster = row.g < 0 ? "in no cluster" : `cluster ${row.cluster}`;
  return `${row.id}\n${cluster}, ${status(row)}\nstrength ${fixed(row.strength)}\nclosest other cluster: ${closest(row)}` +
    (row.possible ? `\npossible clusters: ${row.possible}` : "");
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
    redrawItems(views[0]);
    views[0].runAsync();
    views[1].signal("lit", lit).signal("only", only).signal("place", place).runAsync();
  });
}

// Tell the chart which items look different now; it leaves the others as they are.
function redrawItems(view) {
  const hits = found.length < rows.length ? new Set(found) : null;
  const changes = view.changeset();
  view.data("items").forEach((point) => {
    const row = rows[point.i];
    const mark = row.line[place], dim = (hits !== null && !hits.has(row)) || (lit >= 0 && lit !== row.g);
    if (point.mark !== mark) changes.modify(point, "mark", mark);
    if (point.dim !== dim) changes.modify(point, "dim", dim);
  });
  view.change("items", changes);
}

async function draw(id, spec, given) {
  const element = $(id);
  if (element.view) element.view.finalize();
  const size = given || { width: element.clientWidth, height: element.clientHeight };
  const { view } = await window.vegaEmbed(element, { ...spec, ...size }, {
    mode: "vega", renderer: "canvas", actions: false, ast: true, tooltip: showTip, defaultStyle: false,
  });
  element.view = view;
  return view;
}

// The heat map grows with the number of clusters.
function drawHeat() {
  const element = $("confusion"), n = report.confusion.order.length;
  const width = Math.min(element.clientWidth - 118, 46 * n + 60);
  element.style.height = "auto";
  const size = { width, height: Math.min(Math.max(24 * n, Math.min(48 * n, 240)), 900) };
  return draw("confusion", heat(), size);
}

async function drawAll() {
  document.body.classList.add("charts");
  try {
    views = [await draw("scatter", scatter()), await draw("curve", curve())];
    if (report.confusion) views.push(await drawHeat());
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

