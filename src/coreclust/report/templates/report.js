makeHead();
printWell();
document.querySelectorAll(".scripted").forEach((element) => { element.hidden = false; });
$("alpha").addEventListener("input", (event) => { place = Number(event.target.value); showAlpha(); });
$("reset").addEventListener("click", () => { place = report.fitted; showAlpha(); });
$("status").addEventListener("change", () => { page = 0; refind(); });
document.querySelectorAll("[data-show-status]").forEach((button) => button.addEventListener("click", () =>
  showItems(button.dataset.showClusters.split(" ").filter(Boolean).map(Number), button.dataset.showStatus)));
document.querySelectorAll("[data-figure]").forEach((button) => button.addEventListener("click", () =>
  saveFigure(button.dataset.figure, button.dataset.format)));
$("zoom-in").addEventListener("click", () => zoomBy(0.5));
$("zoom-out").addEventListener("click", () => zoomBy(2));
$("zoom-reset").addEventListener("click", () => showZoom(null));
zoomByMouse();
makeLegend();
$("search").addEventListener("input", () => { page = 0; refind(); });
$("previous").addEventListener("click", () => { page -= 1; showPage(); });
$("next").addEventListener("click", () => { page += 1; showPage(); });
$("download").addEventListener("click", download);
showAlpha();
drawAll().then(drawWhenItChanges);
