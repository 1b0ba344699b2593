// ---- print ----

// On paper the colors are the light ones, and all weak items are listed.
function printWell() {
  const repaint = () => views.forEach((view) => {
    Object.entries(colors()).forEach(([name, value]) => view.signal(name, value));
    view.run();
  });
  window.addEventListener("beforeprint", () => {
    document.documentElement.classList.add("light");
    repaint();
    listWeak();
  });
  window.addEventListener("afterprint", () => {
    document.documentElement.classList.remove("light");
    repaint();
    $("weak-list").hidden = true;
  });
}

function listWeak() {
  const list = document.querySelector("#weak-list dl");
  const parts = clusters.map((cluster, g) => {
    const weak = rows.filter((row) => row.g === g && row.line[place] === WEAK);
    if (!weak.length) return [];
    const term = document.createElement("dt"), text = document.createElement("dd");
    term.textContent = `Cluster ${cluster.name} (${weak.length.toLocaleString("en")})`;
    text.textContent = weak.map((row) => row.id).join(", ");
    return [term, text];
  }).flat();
  list.replaceChildren(...parts);
  $("weak-list").hidden = !parts.length;
}

