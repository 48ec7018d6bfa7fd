// The page that compares two backends, devices, nights or revisions.
import assert from "node:assert/strict";
import test from "node:test";
import { Event } from "./dom.mjs";
import { openPage } from "./page.mjs";

const DAY = 86400;
const near = (actual, expected) => assert.ok(Math.abs(actual - expected) < 1e-9, `${actual}`);
const settle = () => new Promise((resolve) => setImmediate(resolve));

// Backends "own" and "blas" on a CPU, "own" on a GPU. An age is [time, below, above, unstable].
const INDEX = {
  tie: 0.02,
  pair: [0, 1],
  manifest: "data/manifest.js",
  contenders: [
    ["own", "cpu", "revisions-own", "part0", "data/0.js"],
    ["blas", "cpu", "revisions-blas", "part1", "data/1.js"],
    ["own", "gpu", "revisions-own", "part2", "data/2.js"],
  ],
  problems: [
    ["gemm", "gemm A", "f32"],
    ["gemm", "gemm B", "f16"],
    ["attention", "attention C", "f16"],
  ],
};
const PARTS = {
  part0: [
    [0, 0, "s00", 0, 0, 0, [1000, 10, 10], [100, 10, 10], [0, 10, 10]],
    [1, 0, "s01", 0, "file01", 1, [100, 1, 1, 1], 0, [50, 1, 1]],
    [2, 0, "s02", 1, 0, 0, [1000]],
    [0, 1, "other", 0, 0, 0, [1, 1, 1]],
  ],
  part1: [
    [0, 1, "s10", 0, 0, 0, [2000, 10, 10]],
    [1, 1, "s11", 0, 0, 0, [990, 20, 20]],
    [2, 1, "s12", 1, 0, 0, [500, 10, 10]],
  ],
  part2: [[0, 2, "s20", 2, 0, 0, [500, 5, 5]]],
};

function addComparison({ data }) {
  data.add("compare", INDEX);
  for (const [part, times] of Object.entries(PARTS)) data.add(part, { times });
  data.add("nights", { id: [1, 1, 1], time: [100 * DAY, DAY, DAY / 2] });
  data.add("revisions", { revisions: 0, 5: ["aaaaaaaaaaaaaaaa", "first"], 6: ["bbbb", "second"] });
  data.add("revisions-own", { ids: [5, 6] });
  data.add("manifest", {
    groups: {
      0: [
        [1970, "data/1970.js"],
        [1971, "data/1971.js"],
      ],
      1: [[0, "data/all.js"]],
      2: [[1970, "data/gpu.js"]],
    },
  });
  const [zeros, ones] = [
    [0, 0, 0],
    [1, 1, 1],
  ];
  data.add("s00", {
    ...{ exp: 0, value: [1000, 100, 100], night: ones, run: ones, n: [9, 0, 0] },
    ...{ lo: ones, hi: [2, 2, 2], environment: [[0, 0]] },
    revision: [
      [0, 5],
      [1, 6],
    ],
    flags: [[2, 2]],
  });
  data.add("s10", {
    ...{ exp: 0, value: [2000, 0, 0], night: ones, run: ones, n: [1, 0, 0] },
    ...{ lo: zeros, hi: zeros, environment: [[0, 0]], revision: [[0, 5]], flags: [[0, 0]] },
  });
}

const openData = () =>
  openPage("", ["compare_data"], { first: ["format", "dom", "data"], before: addComparison })
    .tracker.comparison;
const side = (comparison, contender, when = "0", at = "") => ({
  contender: comparison.contenders[contender],
  when,
  at,
});
const compare = (comparison, a, b, filter = {}) =>
  comparison.compare(side(comparison, ...a), side(comparison, ...b), filter);

test("problems that both sides have are compared in their order", () => {
  const comparison = openData();
  const rows = compare(comparison, [0], [1]);
  assert.deepEqual(
    rows.map(({ problem }) => problem.title),
    ["gemm A", "gemm B", "attention C"],
  );
  near(rows[0].ratio, 2);
  near(rows[0].lo, 1990 / 1010);
  near(rows[0].hi, 2010 / 990);
  near(rows[1].a.value, 1000);
  near(rows[1].a.lo, 990);
  assert.deepEqual(
    rows.map(({ isKnown, isUnstable }) => [isKnown, isUnstable]),
    [
      [true, false],
      [true, true],
      [false, false],
    ],
  );
  assert.equal(rows[1].a.file, "file01");
  assert.equal(rows[0].a.file, "s00");
  assert.equal(compare(comparison, [0], [2]).length, 1);
});

test("a filter leaves the problems of a kernel and a type", () => {
  const comparison = openData();
  const count = (filter) => compare(comparison, [0], [1], filter).length;
  assert.equal(count({ op: "gemm" }), 2);
  assert.equal(count({ type: "f16" }), 2);
  assert.equal(count({ op: "gemm", type: "f16" }), 1);
  assert.equal(count({ op: "softmax" }), 0);
});

test("earlier times are differences, and those that are missing have no row", () => {
  const comparison = openData();
  const valuesAt = (age) =>
    compare(comparison, [0, age], [0, age]).map(({ a }) => Math.round(a.value));
  assert.deepEqual(valuesAt("0"), [1000, 1000, 1000]);
  assert.deepEqual(valuesAt("1"), [1100]);
  assert.deepEqual(valuesAt("2"), [1100, 1500]); // a gap adds nothing
});

test("a night and a revision are read from the history", () => {
  const comparison = openData();
  const [night] = compare(comparison, [0, "night", "1970-04-12"], [1, "night", "1970-04-12"]);
  near(night.a.value, 1200); // the newest of the day
  assert.equal(night.a.isUnstable, true);
  assert.equal(night.b.isKnown, false); // one sample
  const [revision] = compare(comparison, [0, "rev", "bbbb"], [0, "rev", "aaaaaaaaaaaaaaaa"]);
  near(revision.a.value, 1200);
  near(revision.b.value, 1000);
  near(revision.b.lo, 999);
  near(revision.b.hi, 1002);
  assert.deepEqual(compare(comparison, [0, "rev", "x"], [0]), []);
});

test("the files of a side are those of its time", () => {
  const comparison = openData();
  const files = (...rest) => comparison.historyFiles(side(comparison, ...rest));
  assert.deepEqual(files(0), []);
  assert.deepEqual(files(0, "1"), []);
  assert.deepEqual(files(0, "night", "1970-04-12"), ["data/1970.js", "data/all.js"]);
  assert.deepEqual(files(0, "night", "1971-01-01"), ["data/1971.js", "data/all.js"]);
  assert.deepEqual(files(2, "rev", "x"), ["revisions-own", "data/gpu.js"]);
});

test("nights and revisions are listed, newest first", () => {
  const comparison = openData();
  assert.deepEqual(comparison.listNights(), ["1970-04-12", "1970-04-11"]);
  assert.deepEqual(comparison.listRevisions(comparison.contenders[0]), [
    ["bbbb second", "bbbb"],
    ["aaaaaaaaaaaa first", "aaaaaaaaaaaaaaaa"],
  ]);
});

test("totals count known rows, and ties by interval and size", () => {
  const { summarize } = openData();
  const row = (ratio, lo, hi, more = {}) => ({ ratio, lo, hi, isKnown: true, ...more });
  const total = summarize([
    row(2, 1.9, 2.1),
    row(0.5, 0.4, 0.6, { isUnstable: true }),
    row(1.5, 0.9, 2.2), // its interval has 1
    row(1.019, 1.01, 1.03), // too small a change
    row(0.981, 0.97, 0.99),
    row(9, NaN, NaN, { isKnown: false }),
  ]);
  const { count, unknown, wins, losses, ties, unstable, isUnreliable, mean } = total;
  assert.deepEqual(
    { count, unknown, wins, losses, ties, unstable, isUnreliable },
    { count: 5, unknown: 1, wins: 1, losses: 1, ties: 3, unstable: 1, isUnreliable: false },
  );
  near(mean, (2 * 0.5 * 1.5 * 1.019 * 0.981) ** (1 / 5));
  assert.equal(summarize([row(1.02, 1.01, 1.03)]).wins, 1); // the tie itself
  const unstableOne = row(2, 1.9, 2.1, { isUnstable: true });
  assert.equal(summarize([unstableOne, row(2, 1.9, 2.1)]).isUnreliable, true);
  assert.equal(summarize([]).isUnreliable, false);
});

// ---- the distribution -------------------------------------------------------------------------

const openDistribution = () =>
  openPage('<figure id="f"></figure>', ["format", "dom", "distribution"]);

test("changes are counted in ranges that are even to both sides", () => {
  const { countChanges } = openDistribution().tracker.distribution;
  const changes = [-0.5, -0.2, -0.1, -0.02, 0, 0.019, 0.02, 0.05, 0.3];
  const bins = countChanges(changes, 0.02);
  assert.deepEqual(
    bins.map(({ from, to, count }) => [from, to, count]),
    [
      [-Infinity, -0.2, 1],
      [-0.2, -0.1, 1],
      [-0.1, -0.05, 1],
      [-0.05, -0.02, 0],
      [-0.02, 0.02, 3],
      [0.02, 0.05, 1],
      [0.05, 0.1, 1],
      [0.1, 0.2, 0],
      [0.2, Infinity, 1],
    ],
  );
  // Limits within the tie are left out, and no change is lost.
  const wide = countChanges(changes, 0.1);
  assert.deepEqual(
    wide.map(({ from }) => from),
    [-Infinity, -0.2, -0.1, 0.1, 0.2],
  );
  assert.equal(
    wide.reduce((sum, { count }) => sum + count, 0),
    changes.length,
  );
});

test("the distribution is drawn with its words", () => {
  const page = openDistribution();
  const figure = page.document.getElementById("f");
  const rows = [1, 1.01, 1.5, 0.5].map((ratio) => ({ ratio }));
  page.tracker.distribution.draw(figure, rows, 0.02);
  assert.equal(
    figure.querySelector("svg").getAttribute("aria-label"),
    "Distribution of changes. below \u221220.0\u00a0%: 1; \u22122.0\u00a0% to +2.0\u00a0%: 2; " +
      "above +20.0\u00a0%: 1.",
  );
  const bars = figure.querySelectorAll("rect");
  assert.equal(bars.length, 9);
  assert.deepEqual(
    [bars[0], bars[4], bars[8]].map((bar) => bar.getAttribute("class")),
    ["first", "even", "second"],
  );
  const limits = figure.querySelectorAll("text").filter((node) => node.textContent.includes("%"));
  assert.deepEqual(
    limits.map((node) => node.textContent.replace("\u00a0", " ")),
    ["−20 %", "−10 %", "−5 %", "−2 %", "+2 %", "+5 %", "+10 %", "+20 %"],
  );
  assert.equal(bars[4].getAttribute("height"), "56");
  assert.equal(bars[0].getAttribute("height"), "28");
});

// ---- the page ---------------------------------------------------------------------------------

const SELECTS = ["a", "b", "a-age", "b-age", "a-at", "b-at", "op", "type"];
const NODES = [
  ...[
    "verdict",
    "distribution",
    "label-a",
    "label-b",
    "head-a",
    "head-b",
    "head-result",
    "left-out",
  ],
  ...["summary", "summary-a", "summary-b"],
];
const PAGE =
  `<div id="sides" hidden="">${SELECTS.map((id) => `<select id="${id}"></select>`).join("")}` +
  '<select id="sort"><option value="">problem</option><option value="0">size</option>' +
  '<option value="gain">gain</option></select><input id="significant"><button id="swap"></button></div>' +
  `${NODES.map((id) => `<p id="${id}"></p>`).join("")}<table id="compare"><tbody id="rows"></tbody></table>` +
  '<table><tbody id="summary-rows"></tbody></table>';

async function openCompare(hash = "", failed = []) {
  const page = openPage(PAGE, ["compare_data", "distribution", "compare"], {
    hash,
    first: ["format", "dom", "state", "keys", "data"],
    before(tracker, window) {
      addComparison(tracker);
      window.loaded = [];
      tracker.data.load = async (files) => {
        window.loaded.push(...files);
        return files.filter((file) => failed.includes(file));
      };
    },
  });
  await settle();
  const byId = (id) => page.document.getElementById(id);
  const rows = (id = "rows") =>
    byId(id)
      .querySelectorAll("tr")
      .map((row) => row.cells.map((cell) => cell.textContent.trim()).join(" | "));
  const choose = async (id, value) => {
    byId(id).value = value;
    byId("sides").dispatchEvent(new Event("change"));
    await settle();
  };
  return { page, byId, rows, choose, text: (id) => byId(id).textContent };
}

test("the page begins with the pair of the index", async () => {
  const { page, byId, rows, text } = await openCompare("#all=1");
  assert.equal(text("head-a"), "own");
  assert.equal(text("head-b"), "blas");
  assert.equal(text("label-a"), "First");
  assert.equal(text("head-result"), "Faster");
  assert.equal(
    text("verdict"),
    "blas takes 1.41× the time of own (geometric mean of 2 problems). own is faster in 1, " +
      "blas in 0, no significant difference in 1. The mean is unreliable: 1 of 2 timings missed " +
      "their target interval. 1 problem: not enough samples to compare.",
  );
  const [first, second, third] = rows().map((row) => row.replaceAll("\u00a0", " "));
  assert.equal(first, "gemm A | 1.000 µs ±1.0 % | 2.000 µs ±0.5 % | 2.0× | 2.00× | own");
  assert.ok(second.endsWith("990.0 ns ±2.0 % | \u22121.0 % | 0.99× | no significant difference"));
  assert.ok(third.startsWith("attention C | 1.000 µs one sample | 500.0 ns ±2.0 %"));
  assert.ok(third.endsWith("\u221250.0 % | 0.50× | not enough samples"));
  assert.deepEqual(rows("summary-rows"), [
    "gemm f32 | own | 2.00× | 1 | 0 | 0",
    "gemm f16 | no significant difference | 0.99× (unreliable) | 0 | 0 | 1",
    "attention f16 | not enough samples | \u2013 | 0 | 0 | 0",
  ]);
  assert.equal(byId("compare").dataset.ready, "3");
  assert.deepEqual(page.window.loaded, ["data/0.js", "data/1.js"]);
});

test("one backend at two times has a before and an after", async () => {
  const { text, rows } = await openCompare("#a=own+%40+cpu&b=own+%40+cpu&a-age=1");
  assert.equal(text("label-a"), "Before");
  assert.equal(text("head-a"), "Before: own, a week before");
  assert.equal(text("head-result"), "Result");
  assert.match(
    text("verdict"),
    /^The time changed by \u22129\.1\u00a0% from own, a week before to own/,
  );
  assert.match(text("verdict"), /1 faster, 0 slower, no significant difference in 0\./);
  assert.match(rows()[0], /faster$/);
});

test("the device is named where the sides differ in it", async () => {
  const { text } = await openCompare("#b=own+%40+gpu");
  assert.equal(text("head-a"), "own @ cpu");
  assert.equal(text("head-b"), "own @ gpu");
});

test("the choices are in the address", async () => {
  const { page, byId, rows, text, choose } = await openCompare();
  await choose("op", "gemm");
  await choose("sort", "gain");
  byId("significant").checked = true;
  await choose("type", "");
  assert.equal(page.hash(), "#a=own+%40+cpu&b=blas+%40+cpu&op=gemm&sort=gain");
  assert.equal(rows().length, 1);
  assert.equal(text("left-out"), "1 problem without a significant change.");
  assert.equal(byId("left-out").hidden, false);
  byId("significant").checked = false;
  await choose("type", "f16");
  assert.match(page.hash(), /all=1/);
  assert.equal(rows().length, 1);
  page.navigate("#a=own+%40+gpu&b=nobody&op=x");
  await settle();
  assert.equal(text("head-a"), "own @ gpu");
  assert.equal(byId("b").value, "blas @ cpu"); // the other one of the pair
  assert.equal(byId("op").value, "");
});

test("rows are sorted by gain or by size", async () => {
  const { choose, rows } = await openCompare("#all=1");
  const titles = () => rows().map((row) => row.split(" | ")[0]);
  await choose("sort", "gain");
  assert.deepEqual(titles(), ["gemm A", "gemm B", "attention C"]);
  await choose("sort", "0");
  assert.deepEqual(titles().at(-1), "gemm B");
});

test("sides are swapped with their times", async () => {
  const { page, byId, text } = await openCompare("#a-age=night&a-at=1970-04-11");
  assert.equal(text("head-a"), "own, 1970-04-11");
  byId("swap").click();
  await settle();
  assert.equal(text("head-b"), "own, 1970-04-11");
  assert.equal(text("head-a"), "blas");
  assert.equal(byId("a-at").hidden, true);
  assert.match(page.hash(), /b-age=night&b-at=1970-04-11/);
});

test("revisions of a side are loaded before they are listed", async () => {
  const { page, byId, choose, text } = await openCompare();
  await choose("a-age", "rev");
  assert.deepEqual(
    byId("a-at").options.map(({ value }) => value),
    ["bbbb", "aaaaaaaaaaaaaaaa"],
  );
  assert.equal(text("head-a"), "own, bbbb");
  assert.ok(page.window.loaded.includes("revisions-own"));
  assert.ok(page.window.loaded.includes("data/manifest.js"));
});

test("sides without a common problem, and files that are missing, are told", async () => {
  const none = await openCompare("#a=blas+%40+cpu&b=own+%40+gpu&op=attention");
  assert.equal(none.text("verdict"), "They have no problem in common.");
  assert.equal(none.byId("compare").hidden, true);
  const times = await openCompare("#a-age=night&a-at=1970-04-11&op=attention");
  assert.equal(times.text("verdict"), "They have no problem in common at these times.");
  const missing = await openCompare("", ["data/1.js"]);
  assert.equal(missing.text("verdict"), "Could not load data/1.js. Reload to retry.");
});
