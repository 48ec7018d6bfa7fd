// The data files of the charts, the address of a view, and the download as CSV.
import assert from "node:assert/strict";
import test from "node:test";
import { Event } from "./dom.mjs";
import { openPage } from "./page.mjs";

const openData = (html = "") => openPage(html, ["format", "dom", "state", "data", "csv"]);
const near = (actual, expected) => assert.ok(Math.abs(actual - expected) < 1e-9, `${actual}`);

// Three points: 100, 110 and 105 tenths.
const PART = {
  exp: -1,
  value: [100, 10, -5],
  lo: [1, 2, -1],
  hi: [3, -1, 4],
  min: [5, 6, 7],
  q25: [1, 1, 1],
  q75: [2, 2, 2],
  p95: [9, -1, 9],
  night: [4, 1, 1],
  run: [40, 1, 1],
  n: [20, 0, 5],
  revision: [
    [0, 7],
    [2, 8],
  ],
  environment: [[0, 1]],
  flags: [[1, 2]],
};
const NIGHTS = { id: [4, 1, 1], time: [1000, 86400, 86400] };

test("objects of one id are merged, the newer member wins", () => {
  const { data } = openData().tracker;
  assert.deepEqual(data.get("x"), {});
  data.add("x", { a: 1, b: 2 });
  data.add("x", { b: 3 });
  data.add("y", { c: 4 });
  assert.deepEqual(data.get("x"), { a: 1, b: 3 });
});

test("the points of a series are decoded", () => {
  const { data } = openData().tracker;
  assert.equal(data.series("s"), null);
  data.add("nights", NIGHTS);
  data.add("s", { title: "T", unit: "ns" });
  data.add("s", PART);
  const { title, unit, points, samples } = data.series("s");
  assert.equal(`${title} ${unit}`, "T ns");
  assert.deepEqual(samples, {});
  assert.deepEqual(
    points.map(({ time, night, run, n, revision, environment, flags }) => ({
      ...{ time, night, run, n, revision, environment, flags },
    })),
    [
      { time: 1000, night: 4, run: 40, n: 20, revision: 7, environment: 1, flags: 0 },
      { time: 87400, night: 5, run: 41, n: 20, revision: 7, environment: 1, flags: 2 },
      { time: 173800, night: 6, run: 42, n: 25, revision: 8, environment: 1, flags: 2 },
    ],
  );
  const [first, second, third] = points;
  near(first.x, 1000 / 86400);
  near(first.value, 10);
  near(second.value, 11);
  near(third.value, 10.5);
  near(first.lo, 9.9);
  near(first.hi, 10.3);
  near(first.min, 9.5);
  near(first.q25, 9.9);
  near(first.q75, 10.2);
  near(first.p95, 10.9);
});

test("an unknown end of an interval is the median, an unknown quantile is none", () => {
  const { data } = openData().tracker;
  data.add("nights", NIGHTS);
  data.add("s", { ...PART, q25: undefined });
  const [, second, third] = data.series("s").points;
  near(second.hi, second.value);
  near(third.lo, third.value);
  assert.ok(Number.isNaN(second.p95));
  assert.ok(Number.isNaN(second.q25));
});

test("a point has a time of its own where its part has one", () => {
  const { data } = openData().tracker;
  data.add("nights", NIGHTS);
  data.add("s", { ...PART, time: [5, 10, 10] });
  assert.deepEqual(
    data.series("s").points.map(({ time }) => time),
    [5, 15, 25],
  );
});

test("parts are put in the order of time", () => {
  const { data } = openData().tracker;
  data.add("nights", { id: [4, 1, 1, 1, 1, 1], time: [1, 1, 1, 1, 1, 1] });
  data.add("s", { ...PART, night: [7, 1, 1] });
  data.add("s", PART);
  assert.deepEqual(
    data.series("s").points.map(({ night }) => night),
    [4, 5, 6, 7, 8, 9],
  );
});

test("samples are decoded by run", () => {
  const { data } = openData().tracker;
  data.add("s", { samples: { 40: [-1, 100, 5, -10], 41: [2, 3] } });
  data.add("s", { samples: { 42: [0, 1, 1] } });
  assert.deepEqual(data.series("s").samples, { 40: [10, 10.5, 9.5], 41: [300], 42: [1, 2] });
});

test("files are loaded once, failed ones again", async () => {
  const page = openData('<script src="data/known.js"></script>');
  const { data } = page.tracker;
  const scripts = () => page.document.head.querySelectorAll("script");
  const loading = data.load(["data/known.js", "data/a.js", "data/b.js", "data/a.js"]);
  assert.deepEqual(
    scripts().map(({ src }) => src),
    ["data/a.js", "data/b.js"],
  );
  scripts()[0].dispatchEvent(new Event("load"));
  scripts()[1].dispatchEvent(new Event("error"));
  assert.deepEqual(await loading, ["data/b.js"]);
  assert.equal(scripts().length, 1);
  const again = data.load(["data/a.js", "data/b.js"]);
  assert.equal(scripts().length, 2);
  scripts()[1].dispatchEvent(new Event("load"));
  assert.deepEqual(await again, []);
  // A file that the page names and could not load.
  page.document.body.querySelector("script").dispatchEvent(new Event("error"));
  const third = data.load(["data/known.js"]);
  scripts()[2].dispatchEvent(new Event("load"));
  assert.deepEqual(await third, []);
});

// ---- the address ------------------------------------------------------------------------------

test("the state of a view is in its address", () => {
  const page = openData();
  const { state } = page.tracker;
  assert.equal(state.get("q"), "");
  state.set("q", "a b&c=d");
  state.set("page", "2");
  assert.equal(page.hash(), "#q=a+b%26c%3Dd&page=2");
  assert.equal(state.get("q"), "a b&c=d");
  state.set("q", "");
  assert.equal(page.hash(), "#page=2");
  state.set("page", "");
  assert.equal(page.hash(), "");
});

test("a key holds several values", () => {
  const page = openData();
  const { state } = page.tracker;
  assert.deepEqual(state.list("with"), []);
  state.toggleListItem("with", "a");
  state.toggleListItem("with", "b c");
  assert.deepEqual(state.list("with"), ["a", "b c"]);
  state.toggleListItem("with", "a");
  assert.deepEqual(state.list("with"), ["b c"]);
  state.toggleListItem("with", "b c");
  assert.equal(page.hash(), "");
});

test("a browser that refuses to replace the state gets another address", () => {
  const page = openData();
  page.window.history.replaceState = () => {
    throw new Error("denied");
  };
  page.tracker.state.set("q", "x");
  assert.equal(page.window.location.hash, "q=x");
});

test("listeners hear of another address", () => {
  const page = openData();
  let heard = 0;
  page.tracker.state.onChange(() => heard++);
  page.navigate("#q=z");
  assert.equal(heard, 1);
  assert.equal(page.tracker.state.get("q"), "z");
});

// ---- CSV --------------------------------------------------------------------------------------

async function download(point, revision, id = "a/b c") {
  const page = openData();
  let made;
  let revoked;
  page.window.URL.createObjectURL = (blob) => ((made = blob), "blob:1");
  page.window.URL.revokeObjectURL = (address) => (revoked = address);
  const clicked = [];
  const create = page.document.createElement.bind(page.document);
  page.document.createElement = (tag) => {
    const node = create(tag);
    node.addEventListener("click", () => clicked.push(`${node.download} ${node.href}`));
    return node;
  };
  page.tracker.downloadCsv({
    id,
    series: { unit: "ns", points: [point] },
    names: { revisions: revision ? [revision] : [] },
  });
  page.runTimers();
  assert.equal(revoked, "blob:1");
  return { clicked, text: await made.text() };
}

test("points are downloaded as CSV", async () => {
  const point = { time: 86400, value: 1234.56789, lo: 1, hi: 2e9, revision: 0 };
  const { clicked, text } = await download(point, ["abc", "gemm: unroll"]);
  assert.deepEqual(clicked, ["a_b_c.csv blob:1"]);
  assert.equal(
    text,
    "time,value,lo,hi,unit,revision,subject\n" +
      "1970-01-02T00:00:00Z,1234.57,1,2000000000,ns,abc,gemm: unroll\n",
  );
  assert.match((await download(point)).text, /,ns,,\n$/);
});

test("a subject is neither a formula nor more than one field", async () => {
  const point = { time: 0, value: 1, lo: 1, hi: 1, revision: 0 };
  const cases = [
    ["a, b", '"a, b"'],
    ['say "x"', '"say ""x"""'],
    ["two\nlines", '"two\nlines"'],
    ["=1+1", '"\'=1+1"'],
    ["+1", '"\'+1"'],
    ["-1", '"\'-1"'],
    ["@x", '"\'@x"'],
    ["\tx", '"\'\tx"'],
    ["a-b=c", "a-b=c"],
  ];
  for (const [subject, field] of cases)
    assert.ok((await download(point, ["r", subject])).text.endsWith(`,r,${field}\n`), subject);
});
