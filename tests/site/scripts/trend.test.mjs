// The trend of a series: what it shows, and how it is drawn.
import assert from "node:assert/strict";
import test from "node:test";
import { openPage } from "./page.mjs";
import { CHART, DAY, DRAW, START, day, makeSeries, near } from "./trend_rig.mjs";

// ---- what a trend shows -----------------------------------------------------------------------

function openView(series, { hash = "", hasOlder = false } = {}) {
  const page = openPage("", ["format", "dom", "state", "trend_view"], { hash });
  return new page.tracker.TrendView(series, { divisor: 1000, unit: "µs", hasOlder });
}

test("an address chooses the mode where the series has it", () => {
  const plain = makeSeries([1000, 2000]);
  const rich = makeSeries([1000, 2000], { ceiling: 500, peak: 250, work: [4e6, "gflop_per_s"] });
  const cases = [
    [plain, "", "abs"],
    [plain, "#mode=x", "abs"],
    [plain, "#mode=pct", "pct"],
    [plain, "#mode=base", "base"],
    [plain, "#mode=rate", "abs"],
    [plain, "#mode=ceiling", "abs"],
    [plain, "#mode=peak", "abs"],
    [rich, "#mode=rate", "rate"],
    [rich, "#mode=ceiling", "ceiling"],
    [rich, "#mode=peak", "peak"],
    [{ ...rich, ceiling: 0 }, "#mode=ceiling", "abs"],
  ];
  for (const [series, hash, mode] of cases)
    assert.equal(openView(series, { hash }).mode, mode, hash);
});

test("values are drawn in the mode and the quantity of the address", () => {
  const series = makeSeries([1000, 2000], {
    ceiling: 500,
    peak: 250,
    work: [4e6, "gflop_per_s"],
  });
  const cases = [
    ["", [1, 2], "µs"],
    ["#show=p95", [1.1, 2.2], "µs, 95th percentile"],
    ["#show=min", [0.9, 1.8], "µs, fastest sample"],
    ["#show=x", [1, 2], "µs"],
    ["#mode=pct", [0, 100], "% of the first night shown"],
    ["#mode=base", [0, 100], "% of the baseline night"],
    [`#mode=base&base=${(START + 1) * DAY}`, [-50, 0], "% of the baseline night"],
    ["#mode=ceiling", [50, 25], "roofline efficiency, %"],
    ["#mode=peak", [25, 12.5], "% of the datasheet’s peak"],
    ["#mode=rate", [4, 2], "TFLOP/s"],
  ];
  for (const [hash, values, title] of cases) {
    const view = openView(series, { hash });
    const points = view.chartPoints(series, view.bounds);
    points.forEach(({ y }, i) => near(y, values[i]));
    assert.equal(view.axisTitle, title, hash);
  }
});

test("only the median has an interval, and an unknown quantile no point", () => {
  const series = makeSeries([1000]);
  const [median] = openView(series).chartPoints(series, [0, 1e9]);
  near(median.lo, 0.99);
  near(median.hi, 1.01);
  const [p95] = openView(series, { hash: "#show=p95" }).chartPoints(series, [0, 1e9]);
  assert.equal(p95.lo, p95.y);
  assert.deepEqual(openView(series, { hash: "#show=q25" }).chartPoints(series, [0, 1e9]), []);
});

test("the first night shown is that of the range", () => {
  const series = makeSeries([1000, 2000, 4000]);
  const view = openView(series, { hash: `#mode=pct&range=${day(1)}..${day(2)}` });
  const points = view.chartPoints(series, view.bounds);
  assert.deepEqual(
    points.map(({ y }) => y),
    [-50, 0, 100],
  );
});

test("a range is a number of days, all, or two dates", () => {
  const series = makeSeries(Array.from({ length: 400 }, () => 1000));
  const cases = [
    ["", false, [0, 399]],
    ["", true, [219, 399]],
    ["#range=all", true, [0, 399]],
    ["#range=30", true, [369, 399]],
    ["#range=9999", false, [0, 399]],
    ["#range=0", false, [0, 399]],
    [`#range=${day(10)}..${day(20)}`, false, [10, 21]],
    [`#range=${day(20)}..${day(10)}`, false, [0, 399]],
    ["#range=1990-01-01..1990-02-01", false, [0, 399]],
    ["#range=2090-01-01..2090-02-01", false, [0, 399]],
  ];
  for (const [hash, hasOlder, [from, to]] of cases) {
    const { bounds } = openView(series, { hash, hasOlder });
    assert.deepEqual(
      bounds.map((end) => end - START),
      [from, to],
      hash,
    );
  }
});

test("a failed night after the last point is within the range", () => {
  const series = makeSeries([1, 2], { marks: [{ time: (START + 5) * DAY }] });
  assert.deepEqual(openView(series).bounds, [START, START + 5]);
});

test("older nights are needed where the view reaches behind the first one", () => {
  const series = makeSeries(Array.from({ length: 100 }, () => 1000));
  const cases = [
    ["", true], // 180 days
    ["#range=all", true],
    ["#range=99", false],
    ["#range=100", true],
    ["#range=30", false],
    [`#range=${day(0)}..${day(9)}`, false],
    ["#range=2025-12-31..2026-02-01", true],
    [`#range=30&night=${START * DAY}`, false],
    [`#range=30&night=${(START - 1) * DAY}`, true],
    [`#range=30&base=${(START - 1) * DAY}`, true],
  ];
  for (const [hash, needs] of cases)
    assert.equal(openView(series, { hash, hasOlder: true }).needsOlder, needs, hash);
});

test("the axis shows at least 5 % to either side, and all of a wide interval", () => {
  const flat = makeSeries([1000, 1000, 1000]);
  const dataset = (series, view) => ({ data: view.chartPoints(series, view.bounds) });
  const range = (series, hash = "") => {
    const view = openView(series, { hash });
    return view.yRange([dataset(series, view)], view.bounds);
  };
  const [lo, hi] = range(flat);
  near(lo, 0.95 - 0.004);
  near(hi, 1.05 + 0.004);
  const wide = makeSeries([1000, 1000, 2000]);
  near(range(wide)[0], 0.95 - (2.02 - 0.95) * 0.04);
  near(range(wide)[1], 2.02 + (2.02 - 0.95) * 0.04);
  near(range(flat, "#mode=pct")[1], 5.4);
  near(range(flat, "#axis=log")[0], 0.95 / 1.02);
  near(range(flat, "#axis=log")[1], 1.05 * 1.02);
  assert.equal(openView(flat, { hash: "#axis=log&mode=pct" }).isLogarithmic, false);
  // Points outside of the range do not count.
  const later = makeSeries([9000, 1000, 1000]);
  const view = openView(later);
  near(view.yRange([dataset(later, view)], [START + 1, START + 2])[1], 1.054);
  assert.deepEqual(view.yRange([{ data: [] }], [0, 1]), [0, 0]);
});

test("amounts and changes in words follow the mode", () => {
  const series = makeSeries([1000], { peak: 250, work: [4e6, "gflop_per_s"] });
  const inMode = (mode) => openView(series, { hash: `#mode=${mode}` });
  assert.equal(inMode("abs").amountText(series, 1234), "1.234 µs");
  assert.equal(inMode("rate").amountText(series, 1000), "4.000\u00a0TFLOP/s");
  assert.equal(inMode("peak").amountText(series, 1000), "25\u00a0% of peak");
  near(inMode("abs").changeOf(1100, 1000), 0.1);
  near(inMode("rate").changeOf(1000, 1100), 0.1);
});

// ---- how it is drawn --------------------------------------------------------------------------

function drawOptions(series, { hash = "", pinned, names = {} } = {}) {
  const page = openPage("", [...CHART, ...DRAW], { hash });
  const { TrendView, trendChart } = page.tracker;
  const view = new TrendView(series, { divisor: 1000, unit: "µs", hasOlder: false });
  const all = { revisions: {}, nights: {}, environments: {}, ...names };
  const drawn = { bounds: view.bounds, yRange: [0, 1], isLegendShown: false, pinned };
  return {
    view,
    trendChart,
    options: trendChart.options(view, all, drawn, {}),
    item: (i) => ({
      raw: { point: series.points[i] },
      dataset: { series },
    }),
  };
}

test("change points are numbered, and worse is the direction of the series", () => {
  const change = (before, after, i) => ({ time: (START + i) * DAY, before, after });
  const changes = [change(1, 2, 0), change(2, 1, 1), change(1, 2, 2), change(1, 2, 3)];
  const marksOf = (lower) =>
    Object.values(
      drawOptions(makeSeries([1, 2, 3, 4], { changes, lower_is_better: lower })).options.plugins
        .annotation.annotations,
    );
  const marks = marksOf(true);
  assert.deepEqual(
    marks.map(({ label }) => [label.content, label.color, label.yAdjust]),
    [
      ["1", "colour(--bad)", 0],
      ["2", "colour(--good)", 22],
      ["3", "colour(--bad)", 44],
      ["4", "colour(--bad)", 0],
    ],
  );
  assert.equal(marks[2].xMin, START + 2);
  assert.equal(marksOf(false)[0].label.color, "colour(--good)");
});

test("conditions, failed nights, the pin and the baseline have marks", () => {
  const series = makeSeries([1, 2, 3, 4], {
    ceiling: 500,
    marks: [
      { time: (START + 4) * DAY, word: "failed", isVerdict: false, isWorse: true },
      { time: (START + 5) * DAY, word: "slower", isVerdict: true, isWorse: true },
    ],
  });
  Object.assign(series.points[1], { environment: 2, flags: 1 });
  Object.assign(series.points[2], { environment: 2 });
  Object.assign(series.points[3], { environment: 2, flags: 2 });
  const hash = `#mode=base&base=${(START + 2) * DAY}`;
  const { options } = drawOptions(series, { hash, pinned: series.points[1] });
  const { annotations: marks } = options.plugins.annotation;
  assert.deepEqual(Object.keys(marks), [
    "condition1",
    "condition3",
    "night0",
    "night1",
    "pinned",
    "baseline",
  ]);
  assert.equal(marks.condition1.content, "\u25c6"); // a new environment explains more
  assert.equal(marks.condition3.content, "\u26a0");
  assert.equal(marks.night0.content, "\u2715");
  assert.equal(marks.night1.label.content, "slower");
  assert.equal(marks.pinned.xMin, START + 1);
  assert.equal(marks.baseline.xMin, START + 2);
  const context = { chart: { scales: { y: { min: 3, max: 7 } } } };
  assert.equal(marks.condition1.yValue(context), 7);
  assert.equal(marks.night0.yValue(context), 3);
});

test("the ceiling is drawn on a logarithmic axis of values alone", () => {
  const series = makeSeries([1000], { ceiling: 500 });
  const hasCeiling = (hash) =>
    "ceiling" in drawOptions(series, { hash }).options.plugins.annotation.annotations;
  assert.equal(hasCeiling(""), false);
  assert.equal(hasCeiling("#axis=log"), true);
  assert.equal(hasCeiling("#axis=log&mode=ceiling"), false);
  const { ceiling } = drawOptions(series, { hash: "#axis=log" }).options.plugins.annotation
    .annotations;
  assert.equal(ceiling.yMin, 0.5);
});

test("tooltips say what was measured, and what changed", () => {
  const series = makeSeries([1000, 1100], { ceiling: 550 });
  Object.assign(series.points[1], { environment: 2, flags: 3, revision: 1 });
  const names = {
    revisions: [
      ["0123456789abcdef", "first"],
      ["fedcba9876543210", "x".repeat(80)],
    ],
    environments: { 2: "driver 580" },
  };
  const callbacksOf = (hash) => {
    const { options, item } = drawOptions(series, { hash, names });
    return { ...options.plugins.tooltip.callbacks, item };
  };
  const { title, label, footer, item } = callbacksOf("");
  assert.equal(title([]), "");
  assert.equal(title([item(1)]), "2026-01-02 00:00");
  assert.equal(label(item(0)), "own: 1.000 µs ±1.0\u00a0%");
  assert.equal(label(item(1)), "own: 1.100 µs ±1.0\u00a0% (+10.0\u00a0%)");
  assert.deepEqual(footer([]), []);
  assert.deepEqual(footer([item(0)]), ["0123456789ab first", "roofline efficiency 55\u00a0%"]);
  assert.deepEqual(footer([item(1)]), [
    `fedcba987654 ${"x".repeat(70)}`,
    "environment: driver 580",
    "throttled",
    "unstable",
    "roofline efficiency 50\u00a0%",
  ]);
  const p95 = callbacksOf("#show=p95");
  assert.equal(p95.label(p95.item(1)), "own: 1.210 µs (95th percentile) (+10.0\u00a0%)");
  series.points[1].revision = 0;
  assert.equal(footer([item(1)])[0], "0123456789ab (same revision)");
});

test("ticks of values are changes or percentages where the mode is", () => {
  const series = makeSeries([1000], { ceiling: 500 });
  const tick = (hash, value) =>
    drawOptions(series, { hash }).options.scales.y.ticks.callback.call(
      { tickText: (x) => `<${x}>` },
      value,
    );
  assert.equal(tick("", 2), "<2>");
  assert.equal(tick("#mode=ceiling", 2), "<2> %");
  assert.equal(tick("#mode=pct", 2), "+2.0\u00a0%");
  assert.equal(tick("#mode=pct", 1e-12), "0 %");
});

test("a long line has no marks, an overlay of the same style is dashed", () => {
  const { trendChart, view } = drawOptions(makeSeries([1]));
  const of = (series) => trendChart.dataset(view, series, [0, 1e9], false);
  assert.equal(of(makeSeries(Array(200).fill(1))).pointRadius, 2);
  assert.equal(of(makeSeries(Array(201).fill(1))).pointRadius, 0);
  assert.deepEqual(of(makeSeries([1])).borderDash, []);
  assert.deepEqual(of(makeSeries([1], { isDashed: true })).borderDash, [5, 4]);
  assert.equal(trendChart.dataset(view, makeSeries([1]), [0, 1], true).hidden, true);
});

test("the band runs along the upper ends and back along the lower ones", () => {
  const page = openPage("<canvas></canvas>", ["interval_band"]);
  const context = page.document.querySelector("canvas").getContext();
  const scale = { getPixelForValue: (value) => value * 10 };
  const data = [
    { x: 1, lo: 2, hi: 3 },
    { x: 4, lo: 5, hi: 6 },
  ];
  page.tracker.intervalBand.beforeDatasetsDraw({
    ctx: context,
    chartArea: { left: 1, right: 5, top: 2, bottom: 9 },
    data: { datasets: [{ data }, { data }] },
    scales: { x: scale, y: scale },
    isDatasetVisible: (i) => i === 0,
  });
  assert.deepEqual(
    context.calls.filter(([name]) => name === "lineTo" || name === "rect"),
    [
      ["rect", 1, 2, 4, 7],
      ["lineTo", 10, 30],
      ["lineTo", 40, 60],
      ["lineTo", 40, 50],
      ["lineTo", 10, 20],
    ],
  );
});
