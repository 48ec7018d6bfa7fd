// The roofline, the index of a page of trends, the timeline of a trace, the theme and the font.
import assert from "node:assert/strict";
import test from "node:test";
import { Event } from "./dom.mjs";
import { openPage } from "./page.mjs";

const DAY = 86400;
const CHART = ["format", "dom", "state", "data", "time_axis", "value_axis", "series_style"];
const near = (actual, expected) => assert.ok(Math.abs(actual - expected) < 1e-9, `${actual}`);
const settle = () => new Promise((resolve) => setImmediate(resolve));

// ---- ceilings ---------------------------------------------------------------------------------

const rate = (name, value, source = "measured") => ({ name, value, source, unit: "gflop_per_s" });
const bandwidth = (value, more = {}) => ({
  ...{ name: "DRAM", value, source: "measured", unit: "gb_per_s" },
  ...more,
});
const CEILINGS = [
  rate("f32", 100),
  rate("f16", 1000, "datasheet"),
  rate("bf16", 800),
  bandwidth(10),
  bandwidth(12, { source: "datasheet" }),
  bandwidth(50, { name: "L2", cache: true }),
];
const { ceilings } = openPage("", ["roofline_ceilings"], { first: ["format", "dom"] }).tracker;

test("the ceilings shown are those of the types, and all bandwidths", () => {
  const names = (...types) =>
    ceilings
      .select(
        CEILINGS,
        types.map((type) => ({ type })),
      )
      .map(({ name }) => name);
  assert.deepEqual(names("f32"), ["f32", "DRAM", "DRAM", "L2"]);
  assert.deepEqual(names("f32", "f16"), ["f32", "f16", "DRAM", "DRAM", "L2"]);
  assert.deepEqual(names("f64"), ["bf16", "DRAM", "DRAM", "L2"]); // the highest measured one
  assert.deepEqual(names("bf16", "f64"), ["bf16", "DRAM", "DRAM", "L2"]);
  assert.deepEqual(names(), ["DRAM", "DRAM", "L2"]);
  const unmeasured = [rate("f16", 5, "datasheet"), rate("f32", 9, "datasheet")];
  assert.deepEqual(ceilings.select(unmeasured, [{ type: "x" }]), [unmeasured[1]]);
});

test("memory stops to be the limit where the lines meet", () => {
  assert.deepEqual(ceilings.ridges(CEILINGS), [100, 20]);
  assert.deepEqual(ceilings.ridges([rate("f32", 100)]), []);
  assert.deepEqual(ceilings.ridges([bandwidth(10)]), []);
  assert.deepEqual(ceilings.ridges([rate("a", 24), bandwidth(12, { source: "datasheet" })]), [2]);
});

test("rates are flat from their ridge on, bandwidths rise to the highest rate", () => {
  const range = { x: [1, 1000], y: [1, 5000] };
  const ends = (ceiling, all = CEILINGS) =>
    ceilings.dataset(ceiling, all, range).data.map(({ x, y }) => [x, y]);
  assert.deepEqual(ends(CEILINGS[0]), [
    [10, 100],
    [1000, 100],
  ]);
  assert.deepEqual(ends(CEILINGS[1]), [
    [1000 / 12, 1000],
    [1000, 1000],
  ]); // of its source
  assert.deepEqual(ends(CEILINGS[3]), [
    [1, 10],
    [100, 1000],
  ]);
  assert.deepEqual(ends(CEILINGS[5]), [
    [1, 50],
    [20, 1000],
  ]);
  assert.deepEqual(ends(bandwidth(10), [bandwidth(10)]), [
    [1, 10],
    [500, 5000],
  ]);
  assert.deepEqual(ends(rate("a", 7), [rate("a", 7)]), [
    [1, 7],
    [1000, 7],
  ]);
  const dash = (ceiling) => ceilings.dataset(ceiling, CEILINGS, range).borderDash;
  assert.deepEqual(
    [0, 1, 5].map((i) => dash(CEILINGS[i])),
    [[], [6, 5], [2, 3]],
  );
});

// What is written at which ceilings: y of the rates' lines, from the top.
function drawNames(list, width = 1000) {
  const texts = [];
  const context = new Proxy(
    {},
    {
      get: (_, key) => {
        if (key === "measureText") return (text) => ({ width: 6 * text.length });
        return (...rest) => key === "fillText" && texts.push(rest[0]);
      },
      set: () => true,
    },
  );
  const page = openPage("", ["roofline_ceilings"], { first: ["format", "dom"] });
  const { namesPlugin } = page.tracker.ceilings;
  namesPlugin(() => ({ divisor: 1000, unit: "TFLOP/s" })).afterDatasetsDraw({
    ctx: context,
    width,
    chartArea: { top: 10, bottom: 400, left: 0, right: width },
    data: { datasets: list.map(({ ceiling }) => ({ ceiling, borderColor: "black" })) },
    isDatasetVisible: () => true,
    getDatasetMeta: (i) => ({ data: list[i].ends }),
  });
  return texts;
}
const flat = (y, ceiling) => ({
  ceiling,
  ends: [
    { x: 0, y },
    { x: 900, y },
  ],
});

test("ceilings that coincide share a name, others go below their line", () => {
  assert.deepEqual(
    drawNames([
      flat(100, rate("bf16", 989000)),
      flat(100, rate("f16", 989000)),
      flat(102, rate("tf32", 494700, "datasheet")),
      flat(200, rate("f32", 67000)),
    ]),
    ["bf16, f16 989 TFLOP/s · tf32 495 TFLOP/s, datasheet", "f32 67 TFLOP/s"],
  );
  assert.deepEqual(drawNames([flat(5, rate("f32", 67000))]), []); // above the chart
  // A narrow chart has measured ones alone, without units.
  const narrow = [flat(100, rate("f32", 67000)), flat(300, rate("f16", 1000, "datasheet"))];
  assert.deepEqual(drawNames(narrow, 400), ["f32 67"]);
});

test("a bandwidth is named along its slope where there is room", () => {
  const slope = (length) => ({
    ceiling: bandwidth(3350),
    ends: [
      { x: 0, y: 300 },
      { x: length, y: 100 },
    ],
  });
  assert.deepEqual(drawNames([slope(500)]), ["DRAM 3350 GB/s"]);
  assert.deepEqual(
    drawNames(
      [slope(10)].map((line) => ({
        ...line,
        ends: [
          { x: 0, y: 110 },
          { x: 10, y: 100 },
        ],
      })),
    ),
    [],
  );
});

// ---- the roofline -----------------------------------------------------------------------------

const ROOFLINE =
  '<figure id="chart"><div class="canvas" hidden=""><canvas id="canvas"></canvas></div><div class="drawn-plain"></div></figure>' +
  '<div id="tools" hidden=""><button id="trails" hidden=""></button></div>' +
  '<table class="shares"><tbody><tr data-op="gemm" data-type="f32"></tr><tr data-op="attention" data-type="f16"></tr></tbody></table>';
const POINTS = [
  {
    label: "own",
    look: 1,
    op: "gemm",
    type: "f32",
    x: 10,
    y: 50,
    title: "A",
    efficiency: 0.5,
    peak: 0.25,
  },
  {
    ...{
      label: "own",
      look: 1,
      op: "attention",
      type: "f16",
      x: 100,
      y: 500,
      title: "B",
      older_s: DAY,
    },
    ...{
      measured: [8, 0, 40],
      trail: [
        [0, 400],
        [DAY, 450],
      ],
    },
  },
  {
    label: "blas",
    look: 2,
    op: "gemm",
    type: "f32",
    x: 10,
    y: 60,
    title: "A",
    href: "series/x.html",
  },
];
function openRoofline(hash = "", points = POINTS) {
  const page = openPage(ROOFLINE, ["roofline_ceilings", "roofline"], {
    hash,
    root: "../",
    first: CHART,
    before: ({ data }) => data.add("roofline", { points, ceilings: CEILINGS }),
  });
  return { page, chart: () => page.charts.at(-1), byId: (id) => page.document.getElementById(id) };
}
const labelsOf = ({ data }) =>
  data.datasets
    .filter(({ ceiling }) => !ceiling)
    .map(({ label, data: points }) => `${label} ${points.length}`);

test("points are grouped by backend, under the ceilings of their types", () => {
  const { page, chart, byId } = openRoofline();
  assert.deepEqual(labelsOf(chart()), ["blas 1", "own 2"]);
  const names = chart()
    .data.datasets.map(({ ceiling }) => ceiling?.name)
    .filter(Boolean);
  assert.deepEqual(names, ["f32", "f16", "DRAM", "DRAM", "L2"]);
  const { x, y } = chart().options.scales;
  near(x.min, 8 / 4);
  near(x.max, 200); // twice the ridge
  near(y.min, 25);
  near(y.max, 1600);
  assert.equal(byId("chart").dataset.ready, "3");
  assert.equal(page.document.querySelector(".drawn-plain").hidden, true);
  assert.equal(byId("trails").hidden, false);
});

test("choices filter points and rows, and are in the address", () => {
  const { page, chart, byId } = openRoofline("#op=gemm");
  const rows = () => page.document.querySelectorAll("tbody tr").map(({ hidden }) => hidden);
  assert.deepEqual(labelsOf(chart()), ["blas 1", "own 1"]);
  assert.deepEqual(rows(), [false, true]);
  const type = byId("choose-type");
  type.value = "f16";
  type.dispatchEvent(new Event("change"));
  assert.equal(page.hash(), "#op=gemm&type=f16");
  assert.ok(chart().isDestroyed); // nothing is left
  page.navigate("#type=f16");
  assert.deepEqual(labelsOf(chart()), ["own 1"]);
  const single = openRoofline("", [POINTS[0]]);
  assert.equal(single.byId("tools").hidden, true);
});

test("a tooltip has rate, shares, age, measured intensity and change", () => {
  const { label } = openRoofline().chart().options.plugins.tooltip.callbacks;
  const lines = (i) => label({ raw: POINTS[i] }).map((line) => line.replaceAll("\u00a0", " "));
  assert.deepEqual(lines(0), ["own: 50.00 GFLOP/s, 50 % of its ceiling, 25 % of the datasheet’s"]);
  assert.deepEqual(lines(1), [
    "own: 500.0 GFLOP/s, 1970-01-02",
    "measured FLOP/B: DRAM 8.0, L1 40",
    "1970-01-01: 400.0 GFLOP/s; change since: +25.0 %",
  ]);
});

test("labels stand at powers of ten, in short ranges also at 2 and 5", () => {
  const { x, y } = openRoofline().chart().options.scales;
  const labels = (axis, values) => values.map((value) => axis.ticks.callback(value));
  assert.deepEqual(labels(x, [2, 3, 5, 10, 20, 40, 100]), ["2", "", "5", "10", "20", "", "100"]);
  assert.deepEqual(labels(y, [100, 1000]), ["100", "1,000"]);
  const wide = openRoofline("", [POINTS[0], { ...POINTS[1], x: 1e6 }]).chart().options.scales.x;
  assert.deepEqual(labels(wide, [2, 5, 10]), ["", "", "10"]);
});

test("a click opens the series, a button shows all trails", () => {
  const { page, chart, byId } = openRoofline();
  chart().options.onClick(null, [{ element: { $context: { raw: POINTS[2] } } }]);
  assert.equal(page.window.location.href, "../series/x.html");
  byId("trails").click();
  assert.equal(page.hash(), "#trails=1");
  assert.equal(byId("trails").getAttribute("aria-pressed"), "true");
  byId("trails").click();
  assert.equal(page.hash(), "");
});

// ---- the index of trends ----------------------------------------------------------------------

const TOTALS =
  '<div id="tools" hidden=""></div><section class="trend-section"><figure class="totals"><figcaption>f16</figcaption>' +
  '<div class="totals-canvas"></div><ul class="marks"><li data-look="0" data-label="own"></li>' +
  '<li data-look="1" data-label="blas"></li></ul></figure></section>';
const DAYS = Array.from({ length: 100 }, (_, i) => (i ? DAY : 0));
const TRENDS = {
  devices: [
    {
      marks: [[50 * DAY, 1, true]],
      panels: [
        { lines: [] },
        {
          lines: [
            { time: DAYS, index: DAYS.map((_, i) => (i ? 100 : 10000)) }, // 100 to 199
            { time: DAYS.slice(0, 50), index: DAYS.slice(0, 50).map((_, i) => (i ? 0 : 10000)) },
          ],
        },
      ],
    },
  ],
};
const openTotals = (hash = "") =>
  openPage(TOTALS, ["totals"], {
    hash,
    first: CHART,
    before: ({ data }) => data.add("trends", TRENDS),
  });

test("the index of each backend begins at 100 in the range", () => {
  const page = openTotals();
  const values = () => page.charts.at(-1).data.datasets.map(({ data }) => data.map(({ y }) => y));
  assert.deepEqual(values()[0].slice(0, 2), [100, 101]);
  assert.equal(values()[0].length, 100);
  const buttons = page.document.querySelectorAll("#tools button");
  buttons[0].click();
  assert.equal(page.hash(), "#range=30");
  assert.equal(values()[0].length, 31);
  assert.equal(values()[0][0], 100);
  near(values()[0][30], (100 * 199) / 169);
  assert.equal(values()[1].length, 0); // measured before the range
  assert.ok(page.charts[0].isDestroyed);
  assert.deepEqual(
    buttons.map((button) => button.getAttribute("aria-pressed")),
    ["true", "false", "false", "false"],
  );
  assert.equal(openTotals("#range=7").charts[0].data.datasets[0].data.length, 100); // no such range
});

test("the axis of an index shows at least 2 to either side", () => {
  const { charts } = openTotals();
  const { y } = charts[0].options.scales;
  near((y.min + y.max) / 2, 149.5);
  near(y.max - y.min, 99 * 1.08);
  const { x } = charts[0].options.scales;
  near(x.min, -0.99);
  near(x.max, 99.99);
  const { callbacks } = charts[0].options.plugins.tooltip;
  const [dataset] = charts[0].data.datasets;
  assert.equal(callbacks.title([{ raw: { x: 3 } }]), "1970-01-04");
  assert.equal(callbacks.label({ dataset, raw: { y: 101.26 } }), "own: 101.3");
});

test("arrow keys move over the nights of all lines", () => {
  const page = openTotals();
  const [chart] = page.charts;
  chart.tooltip.body = [{ lines: ["own: 1"] }, { lines: ["blas: 2"] }];
  const press = (key, more = {}) => {
    const event = new Event("keydown", { key, ...more });
    chart.canvas.dispatchEvent(event);
    return event.defaultPrevented;
  };
  assert.ok(press("ArrowRight"));
  assert.deepEqual(chart.active, [{ datasetIndex: 0, index: 99 }]);
  press("Home");
  press("ArrowLeft");
  assert.deepEqual(chart.active, [
    { datasetIndex: 0, index: 0 },
    { datasetIndex: 1, index: 0 },
  ]);
  assert.equal(page.document.getElementById("night").textContent, "1970-01-01, own: 1, blas: 2");
  press("End");
  press("ArrowLeft");
  assert.deepEqual(chart.active, [{ datasetIndex: 0, index: 98 }]);
  assert.equal(press("x"), false);
  assert.equal(press("Home", { altKey: true }), false);
});

test("marks of changes are drawn within the chart alone", () => {
  const { charts } = openTotals();
  const drawn = [];
  const context = new Proxy(
    {},
    {
      get:
        (_, key) =>
        (...rest) =>
          key === "fillText" && drawn.push(rest),
      set: () => true,
    },
  );
  charts[0].plugins[0].afterDatasetsDraw({
    ctx: context,
    chartArea: { left: 10, right: 100, top: 20, bottom: 90 },
    scales: { x: { getPixelForValue: (x) => x } },
    options: {
      marks: [
        [50 * DAY, 1, true],
        [5 * DAY, 2, false],
        [200 * DAY, 3, false],
      ],
    },
  });
  assert.deepEqual(drawn, [["1", 50, 15]]);
});

// ---- the timeline of a trace ------------------------------------------------------------------

const TIMELINE =
  '<div data-tools="0" hidden=""><button data-zoom="in"></button><button data-zoom="left"></button></div>' +
  '<figure data-timeline="0"><div class="timeline-canvas" hidden=""><canvas></canvas></div>' +
  '<p class="timeline-info" hidden=""></p><div class="drawn-plain"></div></figure>';
const TRACE = {
  duration_ns: 1000,
  lanes: ["loads", "products"],
  groups: [
    [0, 0],
    [0, 1],
  ],
  regions: [
    { name: "load A", does: "load" },
    { name: "mma", does: "matrix products" },
  ],
  spans: [
    [0, 0, 0, 100],
    [1, 1, 500, 1000],
    [1, 0, 200, 400, 1],
  ],
};
function openTimeline() {
  const page = openPage(TIMELINE, ["timeline"], {
    first: CHART,
    before: ({ data }) => data.add("timeline-0", TRACE),
  });
  const canvas = page.document.querySelector("canvas");
  const send = (type, more) => canvas.dispatchEvent(new Event(type, more));
  return {
    page,
    send,
    view: () => canvas.dataset.view,
    info: () => page.document.querySelector(".timeline-info").textContent,
    texts: () => canvas.getContext().calls.filter(([name]) => name === "fillText"),
  };
}
// The labels take 6 pixels a letter and 12 beside them, of 1000 pixels in all.
const LABELS = 6 * "products".length + 12;
const xOf = (ns) => LABELS + (ns / 1000) * (1000 - LABELS);

test("keys and buttons zoom and pan within the trace", () => {
  const { page, send, view } = openTimeline();
  const press = (key, more = {}) => {
    send("keydown", { key, ...more });
    return view();
  };
  assert.equal(view(), "0 1000");
  assert.equal(press("+"), "250 750");
  assert.equal(press("ArrowRight"), "375 875");
  assert.equal(press("ArrowRight"), "500 1000");
  assert.equal(press("ArrowRight"), "500 1000"); // the end
  assert.equal(press("="), "625 875");
  assert.equal(press("-"), "500 1000");
  assert.equal(press("+", { ctrlKey: true }), "500 1000");
  assert.equal(press("Escape"), "0 1000");
  for (let i = 0; i < 9; i++) press("+");
  assert.equal(view(), "475 525"); // the narrowest
  press("Escape");
  page.document.querySelector('[data-zoom="in"]').click();
  page.document.querySelector('[data-zoom="left"]').click();
  assert.equal(view(), "125 625");
});

test("the bar under the pointer is described", () => {
  const { send, info } = openTimeline();
  const at = (ns, y) => {
    send("pointermove", { clientX: xOf(ns), clientY: y });
    return info().replaceAll("\u00a0", " ");
  };
  assert.match(info(), /^Point at a bar/);
  assert.equal(at(50, 10), "load A: 100.0 ns, from 0.000 ns to 100.0 ns · block 0, loads");
  assert.match(at(750, 50), /^mma: 500\.0 ns, from 500\.0 ns to 1\.000 µs · block 0, products$/);
  assert.match(at(300, 70), /^load A: 200\.0 ns/); // what goes on beside
  assert.match(at(300, 50), /^Point at a bar/);
  at(50, 10);
  send("pointerleave", {});
  assert.match(info(), /^Point at a bar/);
});

test("a drag zooms, with Shift or a finger it pans, a click does neither", () => {
  const { send, view, info } = openTimeline();
  const drag = (from, to, more = {}) => {
    send("pointerdown", { clientX: xOf(from), clientY: 10, button: 0, ...more });
    send("pointermove", { clientX: xOf(to), clientY: 10, ...more });
    send("pointerup", { clientX: xOf(to), clientY: 10, ...more });
    return view();
  };
  assert.equal(drag(800, 200), "200 800");
  const [begin, end] = drag(500, 400, { shiftKey: true }).split(" ").map(Number);
  assert.equal(end - begin, 600);
  assert.equal(begin, 260); // a tenth of the view
  assert.equal(drag(400, 900, { pointerType: "touch" }), "0 600");
  assert.equal(drag(100, 101), "0 600");
  assert.match(info(), /^load A/);
  assert.equal(drag(0, 900, { button: 2 }), "0 600");
  send("pointerdown", { clientX: xOf(0), clientY: 10, button: 0 });
  send("pointercancel", {});
  send("pointerup", { clientX: xOf(900), clientY: 10 });
  assert.equal(view(), "0 600");
});

test("names are written on bars that have room, and times below", () => {
  const { texts } = openTimeline();
  const words = texts().map(([, text]) => text);
  assert.ok(words.includes("mma") && words.includes("load A"));
  assert.deepEqual(
    words.filter((text) => /s$/.test(text) && /^\d/.test(text)),
    ["0.0 µs", "0.2 µs", "0.4 µs", "0.6 µs", "0.8 µs", "1.0 µs"],
  );
});

// ---- theme and font ---------------------------------------------------------------------------

function openTheme({ stored = {}, prefersDark = false, hasStorage = true } = {}) {
  const page = openPage('<button id="theme" hidden=""></button>', ["theme"], {
    ...{ stored, prefersDark },
    before(_tracker, { localStorage }) {
      if (hasStorage) return;
      localStorage.getItem = localStorage.setItem = () => {
        throw new Error("denied");
      };
    },
  });
  page.window.dispatchEvent(new Event("DOMContentLoaded"));
  const button = page.document.getElementById("theme");
  const seen = () => `${button.textContent} ${page.document.documentElement.dataset.theme}`;
  return { page, button, seen };
}

test("the theme is that of the system until one is chosen", () => {
  assert.equal(openTheme().seen(), "System light");
  assert.equal(openTheme({ prefersDark: true }).seen(), "System dark");
  assert.equal(openTheme({ stored: { "tracker-theme": "dark" } }).seen(), "Dark dark");
  assert.equal(
    openTheme({ stored: { "tracker-theme": "x" }, prefersDark: true }).seen(),
    "System dark",
  );
  const { page, button, seen } = openTheme({ prefersDark: true });
  const chosen = ["", "", ""].map(() => (button.click(), seen()));
  assert.deepEqual(chosen, ["Light light", "Dark dark", "System dark"]);
  assert.equal(page.window.localStorage.getItem("tracker-theme"), "system");
  assert.equal(button.getAttribute("aria-label"), "Theme: System. Change");
});

test("paper is light, and the choice comes back after it", () => {
  const { page, seen } = openTheme({ stored: { "tracker-theme": "dark" } });
  let redrawn = 0;
  page.window.addEventListener("stylechange", () => redrawn++);
  page.window.dispatchEvent(new Event("beforeprint"));
  assert.equal(seen(), "Dark light");
  page.window.dispatchEvent(new Event("afterprint"));
  assert.equal(seen(), "Dark dark");
  assert.equal(redrawn, 2);
});

test("a browser without storage keeps the choice for the page", () => {
  const { seen, button } = openTheme({ hasStorage: false });
  assert.equal(seen(), "System light");
  button.click();
  assert.equal(seen(), "Light light");
});

test("charts are drawn again when the font has come, and only then", async () => {
  for (const isLoaded of [true, false]) {
    let redrawn = 0;
    openPage("", ["font"], {
      first: ["dom"],
      before(_tracker, window) {
        const load = () => (isLoaded ? Promise.resolve() : Promise.reject(new Error("missing")));
        window.document.fonts = [{ load }, { load: () => Promise.resolve() }];
        window.addEventListener("stylechange", () => redrawn++);
      },
    });
    await settle();
    assert.equal(redrawn, isLoaded ? 1 : 0);
  }
});
