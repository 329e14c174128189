"use strict";
// Behaviour of every page: charts in the page's colours, light and dark, tables that sort and filter.
(() => {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");

  // --- colours ---------------------------------------------------------------------------------------------
  // Charts name colours of the style sheet as "@leaf"; only keys that hold colours are looked at, so that a
  // class called "@leaf" stays a class.
  const colour = (name) => getComputedStyle(root).getPropertyValue("--" + name).trim();
  const isToken = (value) => typeof value === "string" && /^@[a-z0-9-]+$/.test(value);
  function painted(value, inColour) {
    if (Array.isArray(value)) return value.map((item) => painted(item, inColour));
    if (value && typeof value === "object") {
      const out = {};
      for (const [key, item] of Object.entries(value)) out[key] = painted(item, /color/i.test(key) || (inColour && key === "colorscale"));
      return out;
    }
    return inColour && isToken(value) ? colour(value.slice(1)) : value;
  }

  function layoutOf(own, height) {
    const axis = { gridcolor: "@grid", linecolor: "@line", zerolinecolor: "@line", automargin: true, tickcolor: "@line", fixedrange: true };
    const layout = {
      font: { family: getComputedStyle(document.body).fontFamily, size: 12.5, color: "@ink" },
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      margin: { l: 48, r: 14, t: 14, b: 40 }, height,
      hoverlabel: { bgcolor: "@card", bordercolor: "@line", font: { color: "@ink" }, align: "left" },
      legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", xanchor: "left" },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: "@line", activecolor: "@soft" },
      dragmode: false, ...own,
    };
    for (const key of new Set(["xaxis", "yaxis", ...Object.keys(own).filter((k) => /^[xy]axis\d*$/.test(k))]))
      layout[key] = { ...axis, ...(own[key] || {}), title: { font: { size: 12.5, color: "@soft" }, ...((own[key] || {}).title || {}) } };
    return painted(layout, false);
  }

  // --- charts ----------------------------------------------------------------------------------------------
  const config = { displaylogo: false, responsive: true, modeBarButtons: [["toImage"]], displayModeBar: "hover" };
  const charts = [];
  for (const figure of document.querySelectorAll("[data-chart]")) {
    const spec = JSON.parse(figure.querySelector("script[type='application/json']").textContent);
    const chart = { figure, spec, shown: 0, plot: figure.querySelector(".plot") };
    const select = figure.querySelector("select");
    if (select) select.addEventListener("change", () => { chart.shown = Number(select.value); draw(chart); });
    charts.push(chart);
  }
  function draw(chart) {
    const variant = chart.spec.variants[chart.shown];
    const height = variant.height || chart.spec.height;
    const layout = layoutOf({ ...chart.spec.layout, ...(variant.layout || {}) }, height);
    chart.narrow = chart.plot.clientWidth < 480;
    const data = chart.narrow && variant.narrow ? variant.narrow : variant.data;
    return Plotly.react(chart.plot, painted(data, false), layout, config);
  }
  addEventListener("resize", () => {
    for (const chart of charts) if (chart.narrow !== chart.plot.clientWidth < 480) draw(chart);
  });
  function drawAll() {
    return typeof Plotly === "undefined" ? Promise.resolve() : Promise.all(charts.map(draw));
  }

  // --- light and dark --------------------------------------------------------------------------------------
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  const button = document.getElementById("theme");
  if (button) {
    button.hidden = false;
    button.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; drawAll(); });
  }
  dark.addEventListener("change", drawAll);
  let before;
  addEventListener("beforeprint", () => { before = root.dataset.theme; root.dataset.theme = "light"; drawAll(); });
  addEventListener("afterprint", () => {
    if (before) root.dataset.theme = before; else delete root.dataset.theme;
    drawAll();
  });

  // --- tables ----------------------------------------------------------------------------------------------
  function sortTable(box, head) {
    const heads = [...head.parentElement.children], at = heads.indexOf(head);
    const isNumber = head.classList.contains("number");
    const first = isNumber ? "descending" : "ascending";
    const other = isNumber ? "ascending" : "descending";
    const order = head.getAttribute("aria-sort") === first ? other : first;
    heads.forEach((one) => one.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", order);
    const body = box.querySelector("tbody"), sign = order === "ascending" ? 1 : -1;
    const key = (row) => (isNumber ? parseFloat(row.cells[at].dataset.sort) : row.cells[at].textContent.trim());
    const rows = [...body.rows].map((row, i) => ({ row, i, key: key(row) }));
    rows.sort((a, b) => {
      if (isNumber) {
        const lost = Number.isNaN(a.key) - Number.isNaN(b.key); // what has no number stays below
        return lost || sign * (a.key - b.key) || a.i - b.i;
      }
      return sign * a.key.localeCompare(b.key, undefined, { numeric: true }) || a.i - b.i;
    });
    body.append(...rows.map((one) => one.row));
  }
  for (const box of document.querySelectorAll("[data-table]")) {
    for (const head of box.querySelectorAll("th")) {
      const press = head.querySelector("button");
      if (press) press.addEventListener("click", () => sortTable(box, head));
    }
    const search = box.querySelector("input[type=search]");
    if (!search) continue;
    const count = box.querySelector("[data-count]"), rows = [...box.querySelectorAll("tbody tr")];
    const filter = () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
        shown += !row.hidden;
      }
      count.textContent = shown + " of " + rows.length + " rows";
    };
    search.addEventListener("input", filter);
    filter();
  }

  drawAll().then(() => { root.dataset.ready = "true"; });
})();
