// Long lists are shown in pages of rows: those of the class "paged". A page has the rows that the
// filter leaves, in the order of the table. The address holds the number of the page, or "all",
// which lets the browser's own search find every row. Paper has all rows.
"use strict";
{
  const { dom, keys, state } = window.tracker;
  const ROWS_PER_PAGE = 100;
  const boxes = dom.all(".paged");
  const count = new Intl.NumberFormat("en");

  // The tables may have been sorted since.
  const readRows = () =>
    boxes.flatMap((box) => dom.all(box.querySelector(".alert") ? ".alert" : "tbody tr", box));

  function makePager(name) {
    const previous = dom.button("‹ Previous", () => turn(-1), { ariaLabel: "Previous page" });
    const next = dom.button("Next ›", () => turn(1), { ariaLabel: "Next page" });
    const all = dom.button("All rows", toggleAll);
    const label = dom.element("span", { className: "nums" });
    const properties = { className: "pager", ariaLabel: name };
    const nav = dom.element("nav", properties, previous, label, next, all);
    return { nav, previous, next, all, label };
  }

  const pagers = [makePager("Pages of rows"), makePager("Pages of rows, below the list")];
  pagers[0].label.setAttribute("role", "status");

  // Where the list is: the page shown, from 1, and how many there are.
  function find() {
    const rows = readRows().filter((row) => !row.hidden);
    const total = rows.length + dom.countRest();
    const last = Math.max(1, Math.ceil(total / ROWS_PER_PAGE));
    const wanted = Math.trunc(Number(state.get("page"))) || 1;
    return { rows, total, last, page: Math.min(Math.max(wanted, 1), last) };
  }

  function labelOf({ total, last, page }, isAll) {
    if (isAll) return `all ${count.format(total)} rows`;
    const first = (page - 1) * ROWS_PER_PAGE;
    const end = Math.min(first + ROWS_PER_PAGE, total);
    return `Page ${page} of ${last}: rows ${count.format(first + 1)} to ${count.format(end)} of ${count.format(total)}`;
  }

  function show() {
    if (location.hash) dom.loadRest();
    const found = find();
    const isAll = state.get("page") === "all";
    const first = isAll ? 0 : (found.page - 1) * ROWS_PER_PAGE;
    const shown = new Set(isAll ? found.rows : found.rows.slice(first, first + ROWS_PER_PAGE));
    for (const row of readRows()) row.classList.toggle("off-page", !row.hidden && !shown.has(row));
    for (const group of boxes.flatMap((box) => dom.all(".group", box))) {
      const rows = dom.all("tbody tr", group);
      group.classList.toggle("off-page", !rows.some((row) => shown.has(row)));
    }
    for (const { nav, previous, next, all, label } of pagers) {
      nav.hidden = found.last < 2;
      label.textContent = labelOf(found, isAll);
      // not "disabled", which would drop the focus
      previous.setAttribute("aria-disabled", String(isAll || found.page === 1));
      next.setAttribute("aria-disabled", String(isAll || found.page === found.last));
      all.textContent = isAll ? "Pages" : "All rows";
      all.setAttribute("aria-label", isAll ? "Rows in pages" : "All rows");
    }
  }

  function go(page) {
    state.set("page", page);
    show();
    pagers[0].nav.scrollIntoView({ block: "nearest" });
  }

  function turn(by) {
    const { page, last } = find();
    const target = page + by;
    if (state.get("page") === "all" || target < 1 || target > last) return;
    go(target > 1 ? String(target) : "");
  }

  function toggleAll() {
    go(state.get("page") === "all" ? "" : "all");
  }

  if (readRows().length + dom.countRest() > ROWS_PER_PAGE) {
    boxes[0].before(pagers[0].nav);
    boxes.at(-1).after(pagers[1].nav);
    keys.add({ key: "]", description: "next page of rows", run: () => turn(1) });
    keys.add({ key: "[", description: "previous page of rows", run: () => turn(-1) });
    document.addEventListener("rowschange", show);
    addEventListener("beforeprint", () => dom.loadRest());
    state.onChange(show);
    show();
  }
}
