// The filters of a list of series, nights or alerts: search terms that a row must all contain, and
// one choice for each property that has several values. The address holds the choices.
"use strict";
{
  const { dom, keys, state } = window.tracker;
  const box = dom.byId("filters");
  const input = dom.byId("filter");
  const count = dom.byId("filter-count");
  const CHOICES = [
    ["op", "Kernel"],
    ["type", "Type"],
    ["backend", "Backend"],
    ["device", "Device"],
    ["status", "Verdict"],
    ["machine", "Machine"],
    ["kind", "Kind"],
    ["state", "State"],
    ["cause", "Cause"],
  ];

  const cellText = (row, selector) => row.querySelector(selector)?.textContent.trim() ?? "";

  function readVerdicts(row) {
    if (!row.querySelector(".c-verdict")) return [];
    const verdicts = cellText(row, ".c-verdict").split(/\s+/).filter(Boolean);
    return verdicts.length ? verdicts : ["no verdict"];
  }

  // The properties of a row, each a list of values.
  function readRow(row, op) {
    const properties = Object.fromEntries(CHOICES.map(([key]) => [key, [row.dataset[key]]]));
    return {
      ...properties,
      node: row,
      text: row.textContent.toLowerCase(),
      op: [op],
      device: [cellText(row, ".c-device")],
      status: readVerdicts(row),
    };
  }

  // A row is a row of the table of a group, or one of its alerts.
  let groups, allRows, choices;

  function addChoice([key, title]) {
    const counts = new Map();
    for (const value of allRows.flatMap((row) => row[key]).filter(Boolean)) {
      counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    if (counts.size < 2) return null;
    const values = [...counts.keys()].sort();
    const options = values.map((value) => [`${value} (${counts.get(value)})`, value]);
    const choice = dom.labelledSelect(`choose-${key}`, title, [["any", ""], ...options]);
    box.insertBefore(choice.box, count);
    choice.select.addEventListener("change", () => {
      state.set(key, choice.select.value);
      state.set("page", "");
      show();
    });
    return { key, select: choice.select };
  }

  function read() {
    groups = dom.all(".group").map((node) => ({
      node,
      rows: dom
        .all(node.querySelector(".alert") ? ".alert" : "tbody tr", node)
        .map((row) => readRow(row, node.dataset.op)),
    }));
    allRows = groups.flatMap(({ rows }) => rows);
    choices = dom.countRest() ? [] : CHOICES.map(addChoice).filter(Boolean);
    restore();
  }

  function show() {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const active = choices.filter(({ select }) => select.value);
    const matches = (row) =>
      words.every((word) => row.text.includes(word)) &&
      active.every(({ key, select }) => row[key].includes(select.value));
    const isFiltered = words.length > 0 || active.length > 0;
    let shown = 0;
    for (const { node, rows } of groups) {
      const matching = new Set(rows.filter(matches));
      for (const row of rows) row.node.hidden = !matching.has(row);
      // A group without rows says so; it stays until something is searched for.
      node.hidden = rows.length || isFiltered ? !matching.size : false;
      shown += matching.size;
    }
    count.textContent = isFiltered ? `${shown} of ${allRows.length}` : "";
    document.dispatchEvent(new Event("rowschange"));
  }

  function restore() {
    input.value = state.get("q");
    for (const { key, select } of choices) dom.selectValue(select, state.get(key));
    show();
  }

  function clear({ target }) {
    const isOurs = target === input || target === document.body || target.tagName === "SELECT";
    if (!isOurs) return false;
    for (const key of ["q", "page", ...choices.map((choice) => choice.key)]) state.set(key, "");
    restore();
    input.blur();
    return true;
  }

  box.hidden = false;
  box.addEventListener("focusin", () => dom.loadRest());
  document.addEventListener("rowsload", read);
  input.addEventListener("input", () => {
    state.set("q", input.value.trim());
    state.set("page", "");
    show();
  });
  state.onChange(restore);
  keys.add({ key: "/", description: "go to the filter", run: () => input.focus() });
  keys.add({ key: "Escape", description: "clear the filters", run: clear, whileTyping: true });
  read();
}
