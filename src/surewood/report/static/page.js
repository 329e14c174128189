"use strict";
// Behaviour of every page: light and dark, tables that sort and filter, choices among drawings, hints.
(() => {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");

  // --- light and dark --------------------------------------------------------------------------------------
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  const button = document.getElementById("theme");
  if (button) {
    button.hidden = false;
    button.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; });
  }

  // --- drawings to choose from -----------------------------------------------------------------------------
  for (const figure of document.querySelectorAll("[data-variants]")) {
    const select = figure.querySelector("select"), drawings = figure.querySelectorAll(":scope > .plot");
    select.addEventListener("change", () => drawings.forEach((one, i) => { one.hidden = i !== Number(select.value); }));
  }
  for (const tabs of document.querySelectorAll("[role=tablist]")) {
    const all = [...tabs.querySelectorAll("[role=tab]")];
    const show = (tab) => all.forEach((one) => {
      one.setAttribute("aria-selected", one === tab);
      one.tabIndex = one === tab ? 0 : -1;
      document.getElementById(one.getAttribute("aria-controls")).hidden = one !== tab;
    });
    all.forEach((tab, i) => {
      tab.addEventListener("click", () => show(tab));
      tab.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        const next = all[(i + step + all.length) % all.length];
        show(next); next.focus();
      });
    });
    show(all[0]);
  }

  // --- hints: what a mark stands for, under the pointer ----------------------------------------------------
  const hint = document.createElement("div");
  hint.className = "hint"; hint.hidden = true; hint.setAttribute("role", "status");
  document.body.append(hint);
  const tell = (event) => {
    const mark = event.target.closest ? event.target.closest("[data-tip]") : null;
    hint.hidden = !mark;
    if (!mark) return;
    hint.textContent = mark.dataset.tip;
    const x = Math.min(event.clientX + 14, innerWidth - hint.offsetWidth - 8);
    const below = event.clientY + 16 + hint.offsetHeight < innerHeight;
    hint.style.left = Math.max(8, x) + "px";
    hint.style.top = (below ? event.clientY + 16 : event.clientY - hint.offsetHeight - 10) + "px";
  };
  addEventListener("pointermove", tell);
  addEventListener("pointerdown", tell);
  addEventListener("scroll", () => { hint.hidden = true; }, { passive: true });

  // --- a link into a folded part opens it ------------------------------------------------------------------
  const unfold = () => {
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    if (target) target.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  unfold();

  // --- tables ----------------------------------------------------------------------------------------------
  function limitPrint(box) {
    let left = Number(box.dataset.printed || 25);
    for (const row of box.querySelector("tbody").rows) row.classList.toggle("beyond", row.hidden || left-- <= 0);
  }
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
    limitPrint(box);
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
      count.textContent = shown + " of " + rows.length;
      limitPrint(box);
    };
    search.addEventListener("input", filter);
    filter();
  }

  root.dataset.ready = "true";
})();
