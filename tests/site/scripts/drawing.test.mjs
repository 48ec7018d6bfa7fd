// What scripts draw on a canvas beside the chart: trails, measured intensity and names of ceilings
// on the roofline, and the line of the peak. The context writes down what it is told.
import assert from "node:assert/strict";
import test from "node:test";
import { openPage } from "./page.mjs";
import { CHART, DAY } from "./trend_rig.mjs";

// { context, calls }: calls are [name, ...arguments]; a change of a property is [name, value].
function recordContext() {
  const calls = [];
  const known = { measureText: (text) => ({ width: 6 * text.length }) };
  const context = new Proxy(
    {},
    {
      get(_target, name) {
        return known[name] ?? ((...rest) => calls.push([name, ...rest]));
      },
      set(_target, name, value) {
        calls.push([name, value]);
        return true;
      },
    },
  );
  return { context, calls };
}
const only = (calls, ...names) => calls.filter(([name]) => names.includes(name));

// ---- the roofline -----------------------------------------------------------------------------

const HTML =
  '<figure id="chart"><div class="canvas"><canvas id="canvas"></canvas></div>' +
  '<div class="drawn-plain"></div></figure><div id="tools"><button id="trails"></button></div>';
const POINT = { label: "own", look: 1, op: "gemm", type: "f32", x: 10, y: 50, title: "A" };
const rate = (name, value, source = "measured") => ({ name, value, source, unit: "gflop_per_s" });
const bandwidth = (name, value, more = {}) => ({
  ...{ name, value, source: "measured", unit: "gb_per_s" },
  ...more,
});

function openRoofline(points, ceilings, hash = "") {
  const page = openPage(HTML, ["roofline_ceilings", "roofline"], {
    hash,
    first: [...CHART, "series_style"],
    before: ({ data }) => data.add("roofline", { points, ceilings }),
  });
  return page.charts.at(-1);
}

// Runs a plugin of the chart with marks 10 pixels apart and values that are their own pixels.
function runPlugin(chart, id, { ends, active = [], width = 800, hidden = [] } = {}) {
  const { context, calls } = recordContext();
  const marks = chart.data.datasets.map(({ ceiling, data }, i) =>
    ceiling && ends ? ends(ceiling) : data.map((_, k) => ({ x: 10 * (k + 1), y: 100 + i })),
  );
  const canvas = {
    ctx: context,
    data: chart.data,
    width,
    chartArea: { left: 0, right: 700, top: 20, bottom: 400 },
    scales: {
      x: { getPixelForValue: (value) => value },
      y: { getPixelForValue: (value) => value },
    },
    getActiveElements: () => active.map(([i, k]) => ({ element: marks[i][k] })),
    isDatasetVisible: (i) => !hidden.includes(i),
    getDatasetMeta: (i) => ({ data: marks[i] }),
  };
  const plugin = chart.plugins.find((entry) => entry.id === id);
  (plugin.beforeDatasetsDraw ?? plugin.afterDatasetsDraw)(canvas);
  return calls;
}

const TRAIL = {
  ...POINT,
  trail: [
    [0, 30],
    [DAY, 40],
  ],
};

test("the trail of a point goes through its earlier rates and fades into the past", () => {
  const chart = openRoofline([TRAIL], [rate("f32", 100)], "#trails=1");
  const calls = runPlugin(chart, "trails");
  assert.deepEqual(only(calls, "moveTo", "lineTo"), [
    ["moveTo", 10, 100],
    ["lineTo", 10, 30],
    ["lineTo", 10, 40],
  ]);
  assert.deepEqual(
    only(calls, "arc").map(([, x, y]) => [x, y]),
    [
      [10, 30],
      [10, 40],
    ],
  );
  const [line, ...dots] = only(calls, "globalAlpha").map(([, alpha]) => alpha);
  assert.equal(line, 0.35);
  assert.ok(dots[0] < dots[1]);
  assert.deepEqual([calls[0], calls.at(-1)], [["save"], ["restore"]]);
});

test("without the button only the point under the pointer has its trail", () => {
  const points = [TRAIL, { ...TRAIL, label: "blas" }, { ...POINT, label: "none" }];
  const chart = openRoofline(points, [rate("f32", 100)]);
  assert.deepEqual(only(runPlugin(chart, "trails"), "moveTo"), []);
  assert.deepEqual(only(runPlugin(chart, "trails", { active: [[0, 0]] }), "moveTo"), [
    ["moveTo", 10, 100],
  ]);
  // a point without earlier nights has none
  assert.deepEqual(only(runPlugin(chart, "trails", { active: [[1, 0]] }), "moveTo"), []);
  const all = openRoofline(points, [rate("f32", 100)], "#trails=1");
  assert.equal(only(runPlugin(all, "trails"), "moveTo").length, 2);
  assert.equal(only(runPlugin(all, "trails", { hidden: [0] }), "moveTo").length, 1);
});

test("measured intensity is a line with a tick for each known level", () => {
  const point = { ...POINT, measured: [300, 0, 5] };
  const calls = runPlugin(openRoofline([point], [rate("f32", 100)]), "measured");
  assert.deepEqual(only(calls, "moveTo", "lineTo"), [
    ["moveTo", 5, 100],
    ["lineTo", 300, 100],
    ["moveTo", 300, 94],
    ["lineTo", 300, 106],
    ["moveTo", 5, 94],
    ["lineTo", 5, 106],
  ]);
  assert.deepEqual(only(calls, "fillText"), [
    ["fillText", "DRAM", 300, 118],
    ["fillText", "L1", 5, 118],
  ]);
  const plain = runPlugin(openRoofline([POINT], [rate("f32", 100)]), "measured");
  assert.deepEqual(only(plain, "moveTo", "fillText"), []);
});

const at = (y) => [
  { x: 100, y },
  { x: 700, y },
];
const names = (calls) => only(calls, "fillText").map(([, text, x, y]) => [text, x, y]);

test("names of rates stand over their lines, or below without room, equal ones together", () => {
  const found = [
    rate("f32", 100),
    rate("f16", 1000, "datasheet"),
    rate("bf16", 1000, "datasheet"),
    rate("tf32", 900),
  ];
  const points = found.map(({ name }, i) => ({ ...POINT, type: name, label: `b${i}` }));
  const y = { f32: 300, f16: 50, bf16: 50, tf32: 56 };
  const chart = openRoofline(points, found);
  const ends = ({ name }) => at(y[name]);
  const drawn = names(runPlugin(chart, "ceilingNames", { ends }));
  const together = drawn.find(([text]) => text.includes("f16"));
  assert.match(together[0], /^f16, bf16 1000 GFLOP\/s, datasheet/);
  assert.deepEqual(
    drawn.map(([, x]) => x),
    drawn.map(() => 696),
  );
  assert.ok(drawn.some(([text, , baseline]) => text === "f32 100 GFLOP/s" && baseline === 296));
  const baselines = drawn.map(([, , baseline]) => baseline).sort((a, b) => a - b);
  baselines.slice(1).forEach((value, i) => assert.ok(value - baselines[i] >= 10, `${baselines}`));
});

test("a line above the chart has no name, and a hidden one neither", () => {
  const chart = openRoofline([POINT], [rate("f32", 100)]);
  const index = chart.data.datasets.findIndex(({ ceiling }) => ceiling);
  assert.deepEqual(names(runPlugin(chart, "ceilingNames", { ends: () => at(10) })), []);
  const hidden = runPlugin(chart, "ceilingNames", { ends: () => at(100), hidden: [index] });
  assert.deepEqual(names(hidden), []);
  assert.equal(names(runPlugin(chart, "ceilingNames", { ends: () => at(100) })).length, 1);
});

test("names of bandwidths lie along their slope, after those of nearby lines", () => {
  const found = [
    rate("f32", 1e6),
    bandwidth("DRAM", 10),
    bandwidth("DRAM", 12, { source: "datasheet" }),
  ];
  const chart = openRoofline([POINT], found);
  const ends = ({ unit, value }) =>
    unit === "gflop_per_s"
      ? at(50)
      : [
          { x: 0, y: 390 - value },
          { x: 600, y: 90 - value },
        ];
  const calls = runPlugin(chart, "ceilingNames", { ends });
  const slopes = names(calls).filter(([text]) => text.startsWith("DRAM"));
  assert.deepEqual(
    slopes.map(([text]) => text),
    ["DRAM 10 GB/s", "DRAM 12 GB/s, datasheet"],
  );
  assert.equal(slopes[0][1], 14);
  assert.equal(slopes[1][1], 14 + 6 * "DRAM 10 GB/s".length + 14);
  assert.deepEqual([slopes[0][2], slopes[1][2]], [14, -5]); // below, and above the dashed one
  for (const [, angle] of only(calls, "rotate"))
    assert.ok(Math.abs(angle - Math.atan(-0.5)) < 1e-9);
  // one that is too short for its name has none
  const short = ({ unit }) =>
    unit === "gflop_per_s"
      ? at(50)
      : [
          { x: 0, y: 390 },
          { x: 20, y: 380 },
        ];
  assert.deepEqual(
    names(runPlugin(chart, "ceilingNames", { ends: short })).filter(([text]) => /DRAM/.test(text)),
    [],
  );
});

test("points of an older night are smaller, and only points are in the legend", () => {
  const chart = openRoofline([POINT, { ...POINT, older_s: DAY }], [rate("f32", 100)]);
  const [points] = chart.data.datasets;
  assert.deepEqual(
    points.data.map((raw) => points.pointRadius({ raw })),
    [5, 3],
  );
  assert.equal(points.pointRadius({}), 5);
  const { legend, tooltip } = chart.options.plugins;
  assert.deepEqual(
    chart.data.datasets.map((_, datasetIndex) =>
      legend.labels.filter({ datasetIndex }, chart.data),
    ),
    [true, false],
  );
  assert.equal(tooltip.filter({ raw: POINT }), true);
  assert.equal(tooltip.filter({ raw: { x: 1, y: 1 } }), false);
  assert.equal(tooltip.callbacks.title([{ raw: POINT }]), "A");
  assert.equal(tooltip.callbacks.title([]), "");
  const { grid } = chart.options.scales.x;
  assert.equal(grid.color({ tick: { value: 3 } }), "transparent");
  assert.notEqual(grid.color({ tick: { value: 10 } }), "transparent");
});
