// Still plots become interactive as they come into view, if plotly.min.js lies beside the page.
const root = document.documentElement, boxes = [...document.querySelectorAll(".plot")];
const look = text => text.replace(/var\((--[a-z0-9]+)\)(?:\/([0-9.]+))?/, (_, name, alpha) => {
  const [r, g, b] = getComputedStyle(root).getPropertyValue(name).trim().slice(1).match(/../g).map(h => parseInt(h, 16));
  return `rgba(${r},${g},${b},${alpha || 1})`;
});
function draw(box) {
  const plot = JSON.parse(box.querySelector("script").textContent, (_, value) => typeof value === "string" ? look(value) : value);
  const live = box.querySelector(".live") || box.appendChild(Object.assign(document.createElement("div"), {className: "live"}));
  plot.layout.height = Math.max(180, Math.round(box.clientWidth * plot.layout.aspect));
  plot.layout.dragmode = matchMedia("(pointer:coarse)").matches ? false : "zoom";
  plot.layout.hoverlabel = {bgcolor: look("var(--card)"), font: {color: look("var(--ink)")}};
  plot.layout.modebar = {bgcolor: "transparent", color: look("var(--muted)"), activecolor: look("var(--ink)")};
  delete plot.layout.aspect;
  Plotly.react(live, plot.data, plot.layout, {responsive: true, displaylogo: false,
    modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"]});
  box.classList.add("drawn");
}
addEventListener("load", () => {
  if (!window.Plotly) return;
  const seen = new IntersectionObserver(entries => entries.filter(e => e.isIntersecting).forEach(e => {
    seen.unobserve(e.target);
    draw(e.target);
  }), {rootMargin: "300px"});
  boxes.forEach(box => seen.observe(box));
  matchMedia("(prefers-color-scheme:dark)").addEventListener("change",
    () => boxes.filter(box => box.classList.contains("drawn")).forEach(draw));
});
