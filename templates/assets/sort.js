// Tables of the class "sortable" sort by a click on the head of a column: first by its largest
// value (texts: the first in the alphabet), then the other way, then as they were. Tables of one
// page with a column of that name sort together. The address holds the choice: sort=NAME, or
// sort=-NAME for descending order.
"use strict";
{
  const { dom, format, state } = window.tracker;
  // In ns, GFLOP/s, GB/s, J and bytes; a factor counts as a change in percent.
  const FACTORS = { ...format.unitFactors, min: 6e10, h: 3.6e12, d: 8.64e13 };
  const NUMBER = /([+\u2212-]?)(\d[\d,]*(?:\.\d+)?)\s*([A-Za-zµ/]+|×)?/gu;

  // "3 min 20 s", "−4.1 %", "2.5×" as a number; NaN: there is none.
  function readNumber(text) {
    let sum = NaN;
    for (const [, sign, digits, unit] of text.matchAll(NUMBER)) {
      const size = parseFloat(digits.replaceAll(",", ""));
      const value = unit === "×" ? (size - 1) * 100 : size * (FACTORS[unit] ?? 1);
      sum = (sum || 0) + (sign && sign !== "+" ? -value : value);
    }
    return sum;
  }

  // The text of a cell without its notes.
  function ownText(cell) {
    const copy = cell.cloneNode(true);
    for (const note of copy.querySelectorAll(".sub, .glyph")) note.remove();
    return copy.textContent.trim();
  }

  function readTable(table) {
    const heads = [...table.tHead.rows[0].cells];
    return {
      rows: [...table.tBodies[0].rows],
      body: table.tBodies[0],
      columns: heads.map((head) => ({
        head,
        name: head.textContent.trim(),
        isNumber: head.classList.contains("num"),
      })),
    };
  }

  const tables = dom.all("table.sortable").map(readTable);
  const collator = new Intl.Collator("en", { numeric: true });

  function compare(left, right, isNumber) {
    return isNumber ? left - right : collator.compare(left, right);
  }

  function sortTable({ rows, body, columns }, name, isDescending) {
    const index = columns.findIndex((column) => column.name === name);
    for (const { head, name: own } of columns) {
      head.removeAttribute("aria-sort");
      if (own === name) head.setAttribute("aria-sort", isDescending ? "descending" : "ascending");
    }
    if (index < 0) {
      body.append(...rows);
      return;
    }
    const { isNumber } = columns[index];
    const keyed = rows.map((row) => {
      const text = ownText(row.cells[index]);
      const key = isNumber ? readNumber(text) : text;
      return { row, key, isEmpty: isNumber ? Number.isNaN(key) : !text || text === "\u2013" };
    });
    // rows without a value come last in both orders
    keyed.sort(
      (left, right) =>
        left.isEmpty - right.isEmpty ||
        (left.isEmpty ? 0 : compare(left.key, right.key, isNumber) * (isDescending ? -1 : 1)),
    );
    body.append(...keyed.map(({ row }) => row));
  }

  function show() {
    const choice = state.get("sort");
    const isDescending = choice.startsWith("-");
    for (const table of tables) sortTable(table, choice.replace(/^-/, ""), isDescending);
    document.dispatchEvent(new Event("rowschange"));
  }

  function toggle({ name, isNumber }) {
    const orders = isNumber ? [`-${name}`, name, ""] : [name, `-${name}`, ""];
    const next = (orders.indexOf(state.get("sort")) + 1) % orders.length;
    dom.loadRest();
    state.set("sort", orders[next]);
    state.set("page", "");
    show();
  }

  for (const { columns } of tables) {
    for (const column of columns) {
      if (column.head.classList.contains("c-spark")) continue;
      const properties = { className: "sort", ariaLabel: `Sort by ${column.name}` };
      column.head.append(dom.button("", () => toggle(column), properties));
    }
  }
  document.addEventListener("rowsload", () => {
    for (const table of tables) table.rows = [...table.body.rows];
  });
  state.onChange(show);
  if (state.get("sort")) {
    dom.loadRest();
    show();
  }
}
