// Lists: sorting, filters, pages of rows, parts that fold, keyboard shortcuts, the copied summary.
import assert from "node:assert/strict";
import test from "node:test";
import { Event } from "./dom.mjs";
import { openPage } from "./page.mjs";

const BASE = ["format", "dom", "state", "keys"];
const texts = (nodes) => nodes.map((node) => node.textContent.trim());
const press = (page, key, properties = {}) => {
  const target = properties.target ?? page.document.body;
  const event = new Event("keydown", { key, ...properties, target });
  page.window.dispatchEvent(event);
  return event.defaultPrevented;
};

// ---- sorting ----------------------------------------------------------------------------------

const table = (heads, rows) =>
  `<table class="sortable"><thead><tr>${heads
    .map((head) => `<th class="${/^[a-z]/.test(head) ? "num" : ""}">${head}</th>`)
    .join("")}</tr></thead><tbody>${rows
    .map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`)
    .join("")}</tbody></table>`;
const column = (page, index = 0) =>
  texts(page.document.querySelectorAll("tbody tr").map((row) => row.cells[index]));
const clickHead = (page, index) => page.document.querySelectorAll("th button")[index].click();

// A lower-case head is one of numbers.
test("a click sorts, the next one turns the order, the third one restores it", () => {
  const page = openPage(
    table(
      ["Name", "time"],
      [
        ["b", "3"],
        ["a10", "1"],
        ["a9", "2"],
      ],
    ),
    [...BASE, "sort"],
  );
  const orders = [];
  for (const index of [1, 1, 1, 0, 0, 0]) {
    clickHead(page, index);
    orders.push(`${column(page).join(" ")} ${page.hash()}`);
  }
  assert.deepEqual(orders, [
    "b a9 a10 #sort=-time",
    "a10 a9 b #sort=time",
    "b a10 a9 ",
    "a9 a10 b #sort=Name",
    "b a10 a9 #sort=-Name",
    "b a10 a9 ",
  ]);
});

test("numbers with units are compared by what they mean", () => {
  const cases = [
    ["800 ns", "41.2 µs", "1.5 ms", "2 s", "3 min 20 s", "1 h", "2 d"],
    ["900 MFLOP/s", "807 GFLOP/s", "1.2 TFLOP/s"],
    ["900 MB/s", "3.1 GB/s", "1 TB/s"],
    ["12 B", "3 kB", "2 MB", "1 GB"],
    ["\u221220 %", "\u22124.1 %", "-1 %", "+3.1 %", "9.5 %", "1.5×", "2.5×"],
    ["999", "1,000", "12,345.5"],
    ["500 µJ", "3 mJ", "1 J"],
  ];
  for (const sorted of cases) {
    const rows = [...sorted].reverse().map((cell) => [cell]);
    const page = openPage(table(["value"], rows), [...BASE, "sort"], { hash: "#sort=value" });
    assert.deepEqual(column(page), sorted);
  }
});

test("rows without a value come last in both orders", () => {
  const rows = [["\u2013"], ["2"], [""], ["1"]];
  for (const [hash, order] of [
    ["#sort=value", ["1", "2", "\u2013", ""]],
    ["#sort=-value", ["2", "1", "\u2013", ""]],
  ])
    assert.deepEqual(column(openPage(table(["value"], rows), [...BASE, "sort"], { hash })), order);
  const names = [["\u2013"], ["b"], ["a"]];
  const page = openPage(table(["Name"], names), [...BASE, "sort"], { hash: "#sort=-Name" });
  assert.deepEqual(column(page), ["b", "a", "\u2013"]);
});

test("notes in a cell do not count", () => {
  const rows = [
    ['<span class="sub">1</span>5'],
    ['<span class="glyph">9</span>4'],
    ['<b>6</b><span class="sub">0</span>'],
  ];
  const page = openPage(table(["value"], rows), [...BASE, "sort"], { hash: "#sort=value" });
  assert.deepEqual(column(page), ["94", "15", "60"]);
});

test("tables with a column of the name sort together, others as they were", () => {
  const html =
    table(
      ["Name", "time"],
      [
        ["a", "1"],
        ["b", "2"],
      ],
    ) + table(["Name"], [["x"], ["w"]]);
  const page = openPage(html, [...BASE, "sort"], { hash: "#sort=-time" });
  assert.deepEqual(column(page), ["b", "a", "x", "w"]);
  page.navigate("#sort=Name");
  assert.deepEqual(column(page), ["a", "b", "w", "x"]);
  const heads = page.document.querySelectorAll("th");
  assert.deepEqual(
    heads.map((head) => head.getAttribute("aria-sort")),
    ["ascending", null, "ascending"],
  );
  page.navigate("#sort=-time");
  assert.equal(heads[1].getAttribute("aria-sort"), "descending");
  assert.equal(heads[0].getAttribute("aria-sort"), null);
});

test("sorting goes back to the first page, and a drawing has no button", () => {
  const html = table(["Name"], [["a"]]).replace('class=""', 'class="c-spark"');
  const page = openPage(`${html}${table(["Name"], [["a"]])}`, [...BASE, "sort"], {
    hash: "#page=3",
  });
  const buttons = page.document.querySelectorAll("th button");
  assert.equal(buttons.length, 1);
  assert.equal(buttons[0].getAttribute("aria-label"), "Sort by Name");
  buttons[0].click();
  assert.equal(page.hash(), "#sort=Name");
});

// ---- filters ----------------------------------------------------------------------------------

const FILTERS =
  '<div id="filters" hidden=""><input id="filter" value=""><span id="filter-count"></span></div>';
const seriesRow = ([name, type, backend, device, verdict]) =>
  `<tr data-type="${type}" data-backend="${backend}"><td>${name}</td>` +
  `<td class="c-device">${device}</td><td class="c-verdict">${verdict}</td></tr>`;
const GROUPS =
  `<section class="group" data-op="gemm"><table><tbody>${[
    ["Square 512", "f32", "blas", "cpu", "slower"],
    ["Square 1024", "f16", "blas", "gpu", ""],
    ["Wide", "f32", "own", "gpu", "faster unstable"],
  ]
    .map(seriesRow)
    .join("")}</tbody></table></section>` +
  `<section class="group" data-op="attention"><table><tbody>${seriesRow(["Long 512", "bf16", "own", "gpu", "slower"])}</tbody></table></section>`;
const openList = (hash = "", html = FILTERS + GROUPS) =>
  openPage(html, [...BASE, "filter"], { hash });
const visible = (page) =>
  texts(
    page.document
      .querySelectorAll("tbody tr")
      .filter((row) => !row.hidden)
      .map((row) => row.cells[0]),
  );
const select = (page, key) => page.document.getElementById(`choose-${key}`);
const choose = (page, key, value) => {
  select(page, key).value = value;
  select(page, key).dispatchEvent(new Event("change"));
};
const type = (page, words) => {
  const input = page.document.getElementById("filter");
  input.value = words;
  input.dispatchEvent(new Event("input"));
};

test("each property with several values has a choice with its counts", () => {
  const page = openList();
  assert.equal(page.document.getElementById("filters").hidden, false);
  assert.deepEqual(texts(select(page, "op").options), ["any", "attention (1)", "gemm (3)"]);
  assert.deepEqual(texts(select(page, "type").options), ["any", "bf16 (1)", "f16 (1)", "f32 (2)"]);
  assert.deepEqual(texts(select(page, "status").options), [
    "any",
    "faster (1)",
    "no verdict (1)",
    "slower (2)",
    "unstable (1)",
  ]);
  assert.equal(select(page, "machine"), null);
});

test("rows have every word and every choice", () => {
  const page = openList();
  const count = page.document.getElementById("filter-count");
  assert.equal(count.textContent, "");
  type(page, "  SQUARE ");
  assert.deepEqual(visible(page), ["Square 512", "Square 1024"]);
  assert.equal(count.textContent, "2 of 4");
  assert.equal(page.hash(), "#q=SQUARE");
  type(page, "512 slower");
  assert.deepEqual(visible(page), ["Square 512", "Long 512"]);
  choose(page, "op", "attention");
  assert.deepEqual(visible(page), ["Long 512"]);
  assert.equal(page.hash(), "#q=512+slower&op=attention");
  type(page, "nothing");
  assert.deepEqual(visible(page), []);
  assert.equal(count.textContent, "0 of 4");
  assert.ok(page.document.querySelectorAll(".group").every((group) => group.hidden));
  type(page, "");
  choose(page, "op", "");
  choose(page, "status", "no verdict");
  assert.deepEqual(visible(page), ["Square 1024"]);
  const hidden = page.document.querySelectorAll(".group").map((group) => group.hidden);
  assert.deepEqual(hidden, [false, true]);
});

test("the address restores the filters, an unknown choice is any", () => {
  const page = openList("#q=gpu&backend=own&device=tpu&page=4");
  assert.deepEqual(visible(page), ["Wide", "Long 512"]);
  assert.equal(page.document.getElementById("filter").value, "gpu");
  assert.equal(select(page, "device").value, "");
  page.navigate("#type=f32");
  assert.deepEqual(visible(page), ["Square 512", "Wide"]);
  choose(page, "type", "f16");
  assert.equal(page.hash(), "#type=f16"); // on the first page again
});

test("alerts are filtered like rows", () => {
  const alert = (name, state) =>
    `<div class="alert" data-state="${state}" data-machine="m1">${name}</div>`;
  const html = `${FILTERS}<div class="group">${alert("a", "new")}${alert("b", "expected")}</div>`;
  const page = openList("#state=new", html);
  const shown = page.document.querySelectorAll(".alert").filter((node) => !node.hidden);
  assert.deepEqual(texts(shown), ["a"]);
  assert.equal(select(page, "machine"), null); // one value
});

test("a group without rows stays until something is searched for", () => {
  const empty = '<section class="group" id="open"><p>No open alerts.</p></section>';
  const page = openList("", FILTERS + empty + GROUPS);
  const group = page.document.getElementById("open");
  assert.equal(group.hidden, false);
  type(page, "512");
  assert.equal(group.hidden, true);
  type(page, "");
  assert.equal(group.hidden, false);
});

test("keys go to the filter and clear it", () => {
  const page = openList("#q=wide&op=gemm");
  const input = page.document.getElementById("filter");
  assert.ok(press(page, "/"));
  assert.equal(page.document.activeElement, input);
  assert.ok(press(page, "Escape", { target: input }));
  assert.equal(page.hash(), "");
  assert.equal(input.value, "");
  assert.equal(visible(page).length, 4);
  assert.equal(page.document.activeElement, page.document.body);
  // Escape elsewhere is not for the filter.
  assert.equal(press(page, "Escape", { target: page.document.querySelector("td") }), false);
});

// ---- pages of rows ----------------------------------------------------------------------------

const longList = (count) =>
  `<div class="paged"><div class="group"><table><tbody>${Array.from(
    { length: count },
    (_, i) => `<tr><td>${i + 1}</td></tr>`,
  ).join("")}</tbody></table></div></div>`;
const openLong = (count, hash = "") => openPage(longList(count), [...BASE, "paging"], { hash });
const onPage = (page) =>
  texts(
    page.document
      .querySelectorAll("tbody tr")
      .filter((row) => !row.classList.contains("off-page") && !row.hidden),
  );
const span = (page) => `${onPage(page)[0]}-${onPage(page).at(-1)}`;
const pager = (page, at = 0) => page.document.querySelectorAll("nav.pager")[at];
const pagerButton = (page, i) => pager(page).querySelectorAll("button")[i];

test("a list of a hundred rows has no pages", () => {
  assert.equal(pager(openLong(100)), undefined);
  const page = openLong(101);
  assert.equal(page.document.querySelectorAll("nav.pager").length, 2);
  assert.equal(pager(page).querySelector("span").textContent, "Page 1 of 2: rows 1 to 100 of 101");
});

test("buttons and keys turn the pages and stop at the ends", () => {
  const page = openLong(1250);
  const [previous, next, all] = [0, 1, 2].map((i) => pagerButton(page, i));
  const label = pager(page, 1).querySelector("span");
  assert.equal(span(page), "1-100");
  previous.click();
  assert.equal(span(page), "1-100");
  assert.equal(previous.getAttribute("aria-disabled"), "true");
  next.click();
  assert.equal(span(page), "101-200");
  assert.equal(page.hash(), "#page=2");
  assert.equal(previous.getAttribute("aria-disabled"), "false");
  previous.click();
  assert.equal(page.hash(), "");
  page.navigate("#page=12");
  press(page, "]");
  assert.equal(span(page), "1201-1250");
  assert.equal(label.textContent, "Page 13 of 13: rows 1,201 to 1,250 of 1,250");
  assert.equal(next.getAttribute("aria-disabled"), "true");
  press(page, "]");
  assert.equal(span(page), "1201-1250");
  press(page, "[");
  assert.equal(span(page), "1101-1200");
  all.click();
  assert.equal(page.hash(), "#page=all");
  assert.equal(label.textContent, "all 1,250 rows");
  assert.equal(onPage(page).length, 1250);
  assert.equal(all.textContent, "Pages");
  press(page, "]"); // there is no next one
  assert.equal(page.hash(), "#page=all");
  all.click();
  assert.equal(span(page), "1-100");
});

test("an address with a page that is not there shows the nearest", () => {
  for (const [hash, shown] of [
    ["#page=99", "201-250"],
    ["#page=-3", "1-100"],
    ["#page=0", "1-100"],
    ["#page=2.9", "101-200"],
    ["#page=x", "1-100"],
  ])
    assert.equal(span(openLong(250, hash)), shown, hash);
});

test("a page has the rows that the filter leaves", () => {
  const page = openLong(250, "#page=2");
  page.document.querySelectorAll("tbody tr").forEach((row, i) => (row.hidden = i % 2 === 1));
  page.document.dispatchEvent(new Event("rowschange"));
  assert.equal(span(page), "201-249");
  page.document.querySelectorAll("tbody tr").forEach((row, i) => (row.hidden = i >= 50));
  page.document.dispatchEvent(new Event("rowschange"));
  assert.equal(onPage(page).length, 50);
  assert.equal(pager(page).hidden, true);
});

test("a group without a row on the page is not shown", () => {
  const html = longList(150).replaceAll("paged", "paged x") + longList(20);
  const page = openPage(html, [...BASE, "paging"]);
  const groups = () =>
    page.document.querySelectorAll(".group").map((g) => g.classList.contains("off-page"));
  assert.deepEqual(groups(), [false, true]);
  page.navigate("#page=2");
  assert.deepEqual(groups(), [false, false]);
});

// ---- parts that fold --------------------------------------------------------------------------

const PARTS =
  '<details class="fold" id="one" open=""><p id="inner"></p></details>' +
  '<details class="fold" id="two" open=""></details>';
const openParts = (page) => page.document.querySelectorAll("details").map(({ open }) => open);
const toggle = (page, i) => {
  const part = page.document.querySelectorAll("details")[i];
  part.open = !part.open;
  part.dispatchEvent(new Event("toggle"));
};

test("the address holds which parts are closed", () => {
  const page = openPage(PARTS, [...BASE, "fold"], { hash: "#fold=two" });
  assert.deepEqual(openParts(page), [true, false]);
  toggle(page, 0);
  assert.equal(page.hash(), "#fold=two%0Aone");
  toggle(page, 1);
  assert.equal(page.hash(), "#fold=one");
  page.navigate("");
  assert.deepEqual(openParts(page), [true, true]);
});

// ---- keys -------------------------------------------------------------------------------------

test("a shortcut runs for its key alone, and not while a user types", () => {
  const page = openPage('<input id="i"><button id="keys" hidden=""></button>', ["keys"]);
  const ran = [];
  const { keys } = page.tracker;
  keys.add({ key: "a", description: "first", run: () => ran.push("a") });
  keys.add({ key: "a", description: "second", run: () => ran.push("again") });
  keys.add({ key: "b", description: "declines", run: () => false });
  keys.add({ key: "b", description: "takes", run: () => ran.push("b") });
  keys.add({ key: "c", description: "anywhere", run: () => ran.push("c"), whileTyping: true });
  keys.add({ description: "only listed", name: "Home" });
  const target = page.document.getElementById("i");
  assert.ok(press(page, "a"));
  assert.ok(press(page, "b"));
  assert.equal(press(page, "a", { target }), false);
  assert.ok(press(page, "c", { target }));
  for (const modifier of ["ctrlKey", "metaKey", "altKey", "defaultPrevented"])
    press(page, "a", { [modifier]: true });
  assert.equal(press(page, "x"), false);
  assert.deepEqual(ran, ["a", "b", "c"]);
});

test("the list of shortcuts opens and closes", () => {
  const page = openPage('<button id="keys" hidden=""></button>', ["keys"]);
  let ran = 0;
  page.tracker.keys.add({ key: "a", description: "runs", run: () => ran++ });
  page.tracker.keys.add({ key: "z", name: "\u2190", description: "is named" });
  const button = page.document.getElementById("keys");
  assert.equal(button.hidden, false);
  button.click();
  const dialog = page.document.querySelector("dialog");
  assert.equal(dialog.open, true);
  assert.deepEqual(texts(dialog.querySelectorAll("dt")), ["?", "a", "\u2190", "Tab"]);
  assert.equal(texts(dialog.querySelectorAll("dd"))[2], "is named");
  press(page, "a"); // behind the list
  assert.equal(ran, 0);
  press(page, "?");
  assert.equal(dialog.open, false);
  press(page, "?");
  assert.equal(page.document.querySelectorAll("dialog").length, 1);
  dialog.querySelector("button").click();
  assert.equal(dialog.open, false);
  press(page, "a");
  assert.equal(ran, 1);
});

// ---- the summary ------------------------------------------------------------------------------

const SUMMARY =
  '<button id="copy" hidden=""></button><span id="copied"></span><pre id="summary" hidden="">text</pre>';

test("the summary is copied, or selected where the clipboard is closed", async () => {
  for (const isOpen of [true, false]) {
    const page = openPage(SUMMARY, ["dom", "copy"]);
    const found = [];
    page.window.navigator.clipboard = isOpen
      ? { writeText: async (text) => found.push(`copied ${text}`) }
      : undefined;
    page.window.getSelection.run = (node) => found.push(`selected ${node.id}`);
    page.document.getElementById("copy").click();
    await Promise.resolve();
    assert.deepEqual(found, [isOpen ? "copied text" : "selected summary"]);
    assert.equal(page.document.getElementById("summary").hidden, isOpen);
    assert.match(
      page.document.getElementById("copied").textContent,
      isOpen ? /^copied$/ : /^select/,
    );
  }
});
