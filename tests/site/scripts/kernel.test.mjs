// The page of a kernel: metrics, maps of speed-ups, rate over size, rate over memory.
import assert from "node:assert/strict";
import test from "node:test";
import { Event } from "./dom.mjs";
import { openPage } from "./page.mjs";

const BASE = ["format", "dom", "state", "keys", "value_axis", "series_style"];
const change = (select, value) => {
  select.value = value;
  select.dispatchEvent(new Event("change"));
};

// cells: [text, data-more, attributes]
const cell = ([text, more = "", attributes = ""]) =>
  `<td class="num w50" data-more="${more}" ${attributes}><a>${text}</a>` +
  '<span class="ratio">old</span><span class="sub">note</span></td>';
const each = (list, text) => list.map(text).join("");
const tableOf = (names, rows) =>
  [
    '<table class="compare"><thead><tr><th>Problem</th>',
    each(names, (name, i) => `<th class="num" data-look="${i}">${name}</th>`),
    "</tr></thead><tbody>",
    each(rows, ([head, more, ...cells]) => `<tr ${more}><th>${head}</th>${each(cells, cell)}</tr>`),
    `</tbody><tfoot><tr><th class="metric-name">Time</th>${each(names, () => "<td>t</td>")}</tr>`,
    `<tr><th>wins</th>${each(names, () => "<td>w</td>")}</tr></tfoot></table>`,
  ].join("");
const TOOLS =
  '<div id="tools" data-tie="0.02" data-metrics="p95 energy memory" hidden=""><select id="metric"></select></div>';

// ---- metrics ----------------------------------------------------------------------------------

const METRIC_ROWS = [
  [
    "A",
    "",
    ["1 µs", "1000 1100 - 0.002"],
    ["2 µs", "2000 2200 - 0.001"],
    ["3 µs", "3000 - - 0.004"],
  ],
  ["B", "", ["1 µs", "1000 1000 - 0.5"], ["1 µs", "1000 1010 - 0.5"], ["failed", ""]],
  ["C", "", ["1 µs", "1000 900 - -"], ["2 µs", ""], ["2 µs", ""]],
];
const openKernel = (hash = "") =>
  openPage(TOOLS + tableOf(["own", "blas", "lib"], METRIC_ROWS), [...BASE, "kernel"], { hash });
const bodyTexts = (page) =>
  page.document
    .querySelectorAll("tbody tr")
    .map((row) => row.querySelectorAll("td").map((node) => node.querySelector("a").textContent));
const footTexts = (page) =>
  page.document
    .querySelectorAll("tfoot tr")
    .map((row) => row.cells.map((node) => node.textContent));

test("metrics that the page has can be chosen", () => {
  const page = openKernel();
  const select = page.document.getElementById("metric");
  assert.deepEqual(
    select.options.map(({ text, value }) => [text, value]),
    [
      ["Time", ""],
      ["p50 · p95 · p99", "percentiles"],
      ["95th percentile", "p95"],
      ["Energy per run", "energy"],
      ["Device memory", "memory"],
    ],
  );
  assert.equal(page.document.getElementById("tools").hidden, false);
  const none = openPage(TOOLS.replace("p95 energy memory", "x"), [...BASE, "kernel"]);
  assert.equal(none.document.getElementById("tools").hidden, true);
});

test("a table is ranked by the metric and goes back to time", () => {
  const page = openKernel();
  const select = page.document.getElementById("metric");
  let heard;
  page.window.addEventListener("metricchange", ({ detail }) => (heard = detail));
  change(select, "p95");
  assert.equal(page.hash(), "#metric=p95");
  assert.equal(heard.key, "p95");
  assert.deepEqual(bodyTexts(page), [
    ["1.100\u00a0µs", "2.200\u00a0µs", "unknown"],
    ["1.000\u00a0µs", "1.010\u00a0µs", "unknown"],
    ["900.0\u00a0ns", "unknown", "unknown"],
  ]);
  const ratios = page.document.querySelectorAll(".ratio").map((node) => node.textContent);
  assert.deepEqual(ratios, ["best", "2.00×", "", "tie", "tie", "", "", "", ""]);
  assert.deepEqual(footTexts(page), [
    ["95th percentile", "1.00× of 2", "1.42× of 2", "\u2013"],
    ["wins", "1", "0", "0"],
  ]);
  const first = page.document.querySelector("tbody td");
  assert.ok(first.classList.contains("best") && first.classList.contains("w100"));
  assert.equal(first.querySelector(".sub").textContent, "");
  change(select, "");
  assert.equal(page.hash(), "");
  assert.equal(heard, null);
  assert.deepEqual(bodyTexts(page)[0], ["1 µs", "2 µs", "3 µs"]);
  assert.deepEqual(footTexts(page)[0], ["Time", "t", "t", "t"]);
});

test("percentiles are ranked by the 95th and shown together", () => {
  const page = openKernel("#metric=percentiles");
  assert.equal(bodyTexts(page)[0][0], "1.000 · 1.100 · \u2013 µs");
  const metric = page.tracker.findMetric("percentiles");
  const range = (more) => metric.rangeOf({ dataset: { more } });
  assert.deepEqual(range("10 20 30"), { y: 10, lo: 10, hi: 30 });
  assert.deepEqual(range("10 20 -"), { y: 10, lo: 10, hi: 20 });
  assert.equal(metric.valueOf({ dataset: { more: "10 20 30" } }), 20);
  assert.ok(Number.isNaN(metric.valueOf({ dataset: {} })));
});

test("each metric has its place among the numbers, and its unit", () => {
  const { findMetric } = openKernel().tracker;
  const numbers = { dataset: { more: "1 2 3 4 5 6 7 8" } };
  const cases = [
    ["p95", 2, "2.000\u00a0ns"],
    ["p99", 3, "3.000\u00a0ns"],
    ["energy", 4, "4.000\u00a0J"],
    ["workspace", 5, "5.000\u00a0B"],
    ["memory", 6, "6.000\u00a0B"],
    ["launch", 7, "7.000\u00a0ns"],
    ["build", 8, "8.000\u00a0s"],
  ];
  for (const [key, value, text] of cases) {
    const metric = findMetric(key);
    assert.equal(metric.valueOf(numbers), value, key);
    assert.equal(metric.text(value), text, key);
  }
  assert.equal(findMetric("x"), undefined);
});

test("an unknown metric of the address is time", () => {
  const page = openKernel("#metric=x");
  assert.equal(page.document.getElementById("metric").value, "");
  assert.equal(bodyTexts(page)[0][0], "1 µs");
  page.navigate("#metric=energy");
  assert.equal(bodyTexts(page)[0][0], "2.000\u00a0mJ");
  page.navigate("");
  assert.equal(bodyTexts(page)[0][0], "1 µs");
});

// ---- maps of speed-ups ------------------------------------------------------------------------

// Times of own, blas and lib; ends of their intervals in 1/10000, below and above.
const MAP_CELLS = [
  ["1000 2000 0", "10,10 10,10 "],
  ["1000 1010 3000", "10,10 10,10 10,10"], // less than a tie
  ["1000 1100 900", "600,600 600,600 1,1"], // intervals overlap
  ["1000 2000 4000", "10,10  10,10"], // blas has no interval
  ["0 2000 1000", " 10,10 10,10"],
];
const mapPage = (hash = "") =>
  openPage(
    `${TOOLS}<section><div class="map-tools" hidden=""></div><p class="map-note">note</p>` +
      `${tableOf(["own", "blas", "lib", "unused"], [])}<table class="map"><tbody><tr>${MAP_CELLS.map(
        ([times, ends]) =>
          `<td class="c" data-times="${times} 0" data-ends="${ends} "><a>t</a><span class="lead">own</span></td>`,
      ).join("")}</tr></tbody></table></section>`,
    [...BASE, "kernel_maps"],
    { hash },
  );
const mapTexts = (page) =>
  page.document
    .querySelectorAll("table.map td")
    .map((node) =>
      [node.querySelector("a"), node.querySelector(".lead")].map((n) => n.textContent).join(" "),
    );

test("a map shows the speed-up of a backend over another", () => {
  const page = mapPage("#of=own&over=blas");
  assert.deepEqual(mapTexts(page), [
    "2.00× faster",
    "1.01× tie",
    "1.10× tie",
    "2.00× no interval",
    "\u2013 ",
  ]);
  const cells = page.document.querySelectorAll("table.map td");
  assert.deepEqual(
    cells.map(({ className }) => className),
    ["speed-up", "", "", "", ""],
  );
  assert.match(
    page.document.querySelector(".map-note").textContent,
    /^Speed-up of own over blas\./,
  );
  page.navigate("#of=blas&over=own");
  assert.equal(mapTexts(page)[0], "0.50× slower");
  assert.equal(cells[0].className, "slow-down");
});

test("without a second choice it is over the best other", () => {
  const page = mapPage("#of=blas");
  assert.deepEqual(mapTexts(page), [
    "0.50× slower",
    "0.99× tie",
    "0.82× slower",
    "0.50× no interval",
    "0.50× slower",
  ]);
  page.navigate("#of=own&over=own");
  assert.equal(mapTexts(page)[0], "1.00× ");
});

test("choices are the backends that were measured, and none restores the map", () => {
  const page = mapPage("#of=lib");
  const [of, over] = page.document.querySelectorAll(".map-tools select");
  assert.deepEqual(
    of.options.map(({ text }) => text),
    ["the best", "own", "blas", "lib"],
  );
  assert.equal(page.document.querySelector(".map-tools").hidden, false);
  assert.equal(page.document.querySelector(".map-scale").hidden, false);
  change(over, "own");
  assert.equal(page.hash(), "#of=lib&over=own");
  change(of, "");
  assert.deepEqual(new Set(mapTexts(page)), new Set(["t own"]));
  assert.equal(over.disabled, true);
  assert.equal(page.document.querySelector(".map-note").textContent, "note");
  assert.equal(page.document.querySelector(".map-scale").hidden, true);
});

test("the strength of a colour grows with the factor and stays below its end", () => {
  const strengths = mapPage()
    .document.querySelectorAll(".map-scale span")
    .map((node) => parseFloat(node.style["--strength"] ?? "0"));
  assert.deepEqual(
    strengths.slice(0, 4),
    [...strengths.slice(0, 4)].sort((a, b) => b - a),
  );
  assert.deepEqual(
    strengths.slice(4),
    [...strengths.slice(4)].sort((a, b) => a - b),
  );
  assert.ok(strengths.every((value) => value < 58));
  assert.equal(strengths[0], strengths[8]); // 1/4 and 4
});

// ---- rate over size ---------------------------------------------------------------------------

const rate = (text) => ["t", "", `data-rate="${text}"`];
const SCALING_ROWS = [
  ["m=256", 'data-x="256" data-batch="1" data-sweeps="0"', rate("200 190 210"), rate("100 90 110")],
  ["m=128", 'data-x="128" data-batch="2" data-sweeps="0 1"', rate("150 150 150"), rate("")],
  ["m=512", 'data-x="512" data-batch="4" data-sweeps="1"', rate("0 0 0"), rate("300 290")],
];
const SCALING = `<section><div class="scaling" data-x-name="m">${[0, 1, 2]
  .map(
    (sweep) =>
      `<figure data-sweep="${sweep}" data-top="2000" data-peak="900" ${sweep === 1 ? 'data-over="batch"' : ""}>` +
      '<figcaption>caption</figcaption><div class="small-canvas"></div><ul class="marks"></ul>' +
      '<p class="peak-note"></p></figure>',
  )
  .join("")}</div>${tableOf(["own", "blas"], SCALING_ROWS)}</section>`;
const openScaling = (html = SCALING) => openPage(TOOLS + html, [...BASE, "kernel", "scaling"]);

test("each sweep of the table has a chart of its backends", () => {
  const { charts, document } = openScaling();
  assert.equal(charts.length, 2);
  const points = (chart) =>
    chart.data.datasets.map(({ label, data }) => [label, data.map(({ x, y }) => [x, y])]);
  assert.deepEqual(points(charts[0]), [
    [
      "own",
      [
        [128, 150],
        [256, 200],
      ],
    ],
    ["blas", [[256, 100]]],
  ]);
  assert.deepEqual(points(charts[1]), [["own", [[2, 150]]]]); // over the batch
  const figures = document.querySelectorAll("figure");
  assert.deepEqual(
    figures.map(({ hidden }) => hidden),
    [false, false, true],
  );
  const { options } = charts[0];
  assert.equal(options.peak, 900);
  assert.equal(options.scales.x.title.text, "m");
  assert.equal(charts[1].options.scales.x.title.text, "batch");
  assert.equal(options.scales.y.title.text, "TFLOP/s");
  assert.equal(options.scales.y.suggestedMax, 2000);
  const { callbacks } = options.plugins.tooltip;
  const [dataset] = charts[0].data.datasets;
  assert.equal(callbacks.title([{ raw: dataset.data[0] }]), "m=128");
  assert.equal(callbacks.title([]), "");
  assert.equal(callbacks.label({ dataset, raw: dataset.data[1] }), "own: 200.0\u00a0GFLOP/s");
});

test("ticks of sizes keep their distance on a logarithmic axis", () => {
  const rows = Array.from({ length: 40 }, (_, i) => [
    "m",
    `data-x="${100 + i * 100}" data-sweeps="0"`,
    rate("1 1 1"),
    rate(""),
  ]);
  const html = SCALING.replace(/<table class="compare">.*<\/table>/s, tableOf(["own", "b"], rows));
  const axis = {};
  openScaling(html).charts[0].options.scales.x.afterBuildTicks(axis);
  const ticks = axis.ticks.map(({ value }) => value);
  assert.ok(ticks.length <= 8 && ticks.length >= 4 && ticks[0] === 100);
  const least = 40 ** (1 / 7);
  ticks.slice(1).forEach((tick, i) => assert.ok(tick / ticks[i] >= least));
});

test("another metric is drawn over size, without a peak", () => {
  const html = SCALING.replace(
    'data-more="" data-rate="200 190 210"',
    'data-more="1000 2000 3000"',
  );
  const page = openScaling(html);
  const [before] = page.charts;
  change(page.document.getElementById("metric"), "p95");
  assert.equal(before.isDestroyed, true);
  const chart = page.charts.at(-1);
  assert.deepEqual(
    chart.data.datasets.map(({ data }) => data.map(({ x, y, lo, hi }) => [x, y, lo, hi])),
    [[[256, 2000, 2000, 2000]]],
  );
  assert.equal(chart.options.peak, 0);
  assert.equal(chart.options.scales.y.title.text, "95th percentile");
  assert.equal(page.document.querySelector(".peak-note").hidden, true);
  change(page.document.getElementById("metric"), "percentiles");
  const [point] = page.charts.at(-1).data.datasets[0].data;
  assert.deepEqual([point.y, point.lo, point.hi], [1000, 1000, 3000]);
});

test("hovering over a size marks it in the other charts", () => {
  const { charts } = openScaling();
  for (const chart of charts)
    chart.getDatasetMeta = () => ({ data: [{ getProps: () => ({ x: 1, y: 2 }) }] });
  charts[1].data.datasets[0].data[0].x = 128;
  charts[0].options.onHover(null, [{ datasetIndex: 0, index: 0 }], charts[0]);
  assert.deepEqual(charts[1].active, [{ datasetIndex: 0, index: 0 }]);
  assert.deepEqual(charts[0].active, []);
  charts[0].options.onHover(null, [], charts[0]);
  assert.deepEqual(charts[1].active, []);
});

test("a short interval has no whisker", () => {
  const { charts } = openScaling();
  const calls = [];
  const context = new Proxy(
    {},
    {
      get:
        (_, key) =>
        (...rest) =>
          calls.push([key, ...rest]),
      set: () => true,
    },
  );
  const [, whiskers] = charts[0].plugins;
  whiskers.afterDatasetsDraw({
    ctx: context,
    data: {
      datasets: [
        {
          data: [
            { lo: 1, hi: 3 },
            { lo: 1, hi: 10 },
          ],
        },
        { data: [{ lo: 1, hi: 99 }] },
      ],
    },
    scales: { y: { getPixelForValue: (value) => value } },
    isDatasetVisible: (i) => i === 0,
    getDatasetMeta: () => ({ data: [{ x: 10 }, { x: 20 }] }),
  });
  assert.deepEqual(
    calls.filter(([name]) => name === "moveTo" || name === "lineTo"),
    [
      ["moveTo", 20, 1],
      ["lineTo", 20, 10],
      ["moveTo", 17, 1],
      ["lineTo", 23, 1],
      ["moveTo", 17, 10],
      ["lineTo", 23, 10],
    ],
  );
});

// ---- rate over memory -------------------------------------------------------------------------

const memory = (more, text) => ["t", more, `data-rate="${text}"`];
const openMemory = (rows) =>
  openPage(
    `${TOOLS}<section><div class="memory-speed"></div>${tableOf(["own", "blas"], rows)}</section>`,
    [...BASE, "kernel", "scaling", "memory_speed"],
  );

test("rate over memory is drawn where three points know both", () => {
  const known = "1 1 1 1 500 1000000";
  const rows = [
    ["A", "", memory(known, "100 1 1"), memory(known, "200")],
    ["B", "", memory(known, "300"), memory("1 1 1 1 500 -", "400")],
    ["C", "", memory("1 1 1 1 500 0", "300"), memory(known, "")],
  ];
  const { charts, document } = openMemory(rows);
  assert.deepEqual(
    charts[0].data.datasets.map(({ label, data }) => [
      label,
      data.map(({ y, title }) => `${title}${y}`),
    ]),
    [
      ["own", ["A100", "B300"]],
      ["blas", ["A200"]],
    ],
  );
  assert.equal(document.querySelector("h3").textContent, "Rate over device memory");
  const { scales, plugins } = charts[0].options;
  assert.equal(scales.x.ticks.callback(3e9), "3 GB");
  assert.equal(scales.y.title.text, "GFLOP/s");
  const [dataset] = charts[0].data.datasets;
  assert.equal(
    plugins.tooltip.callbacks.label({ dataset, raw: dataset.data[0] }),
    "own: 100.0\u00a0GFLOP/s with 1.000\u00a0MB",
  );
});

test("the workspace stands in for the memory, and too few points for neither", () => {
  const workspace = memory("1 1 1 1 500 -", "100");
  const two = [["A", "", workspace, workspace]];
  const none = openMemory(two);
  assert.equal(none.charts.length, 0);
  assert.equal(none.document.querySelector(".memory-speed").hidden, true);
  const page = openMemory([...two, ["B", "", workspace, workspace]]);
  assert.equal(page.document.querySelector("h3").textContent, "Rate over workspace");
});
