// The page of a series: the panel of a night, newer nights than the page, and its controls.
import assert from "node:assert/strict";
import test from "node:test";
import { Event } from "./dom.mjs";
import { openPage } from "./page.mjs";
import { CHART, DAY, DRAW, START, makeSeries } from "./trend_rig.mjs";

// ---- the panel of a night ---------------------------------------------------------------------

function openPanel(series, i, { names = {}, root = "" } = {}) {
  const page = openPage(
    '<div id="night-panel" hidden=""></div>',
    [...CHART, ...DRAW, "night_panel"],
    {
      root,
    },
  );
  const view = new page.tracker.TrendView(series, { divisor: 1000, unit: "µs" });
  const did = [];
  const trend = {
    series,
    view,
    names: { revisions: [], nights: {}, environments: {}, ...names },
    pin: (index) => did.push(`pin ${index}`),
    setBaseline: (point) => did.push(`base ${point.time}`),
    reset: () => did.push("reset"),
  };
  page.tracker.nightPanel.show(trend, i);
  const box = page.document.getElementById("night-panel");
  const terms = box.querySelectorAll("dt").map((node) => node.textContent);
  const facts = Object.fromEntries(
    box.querySelectorAll("dd").map((node, k) => [terms[k], node.textContent]),
  );
  return { page, box, facts, did };
}

test("the panel has the facts of a night that are known", () => {
  const series = makeSeries([1000, 1100], { ceiling: 550 });
  const first = openPanel(series, 0).facts;
  assert.deepEqual(first, {
    Median: "1.000 µs",
    "95 % interval": "0.990 to 1.010 µs",
    Samples: "20",
    "95th percentile": "1.100 µs",
    "Fastest sample": "0.900 µs",
    "Roofline efficiency": "55\u00a0%",
    Run: "tracker show 100",
  });
  Object.assign(series.points[1], {
    ...{ q25: 1050, q75: 1150, p95: NaN, min: NaN, n: 0, environment: 2, flags: 3, run: 0 },
  });
  series.ceiling = 0;
  const second = openPanel(series, 1, { names: { nights: { page: { 1: "night/1.html" } } } });
  assert.deepEqual(second.facts, {
    Median: "1.100 µs \u00b7 +10.0\u00a0% from the night before",
    "95 % interval": "1.089 to 1.111 µs",
    Quartiles: "1.050 to 1.150 µs",
    Environment: "changed",
    Flags: "throttled, unstable",
    Night: "night of 2026-01-02 00:00",
  });
});

test("the panel links commits, and what is between two of them", () => {
  const revision = (id, page) => [id, "subject", `https://forge/x/commit/${id}`, page];
  const series = makeSeries([1000, 1100]);
  const links = (revisions, root) => {
    const { box } = openPanel(series, 1, { names: { revisions }, root });
    return box.querySelectorAll("dd a").map(({ textContent, href }) => `${textContent} ${href}`);
  };
  assert.deepEqual(links([revision("a", "rev/a.html"), revision("b", "rev/b.html")], "../"), [
    "b ../rev/b.html",
    "commits since the night before https://forge/x/compare/a...b",
  ]);
  assert.deepEqual(links([["a", "s", "", ""], revision("b", "")]), ["b https://forge/x/commit/b"]);
  assert.deepEqual(links([["a", "s", "https://other/commit/a", ""], revision("b", "rev/b.html")]), [
    "b rev/b.html",
    "the commit on its forge https://forge/x/commit/b",
  ]);
  assert.deepEqual(
    links([
      ["a", "s", "", ""],
      ["b", "s", "", ""],
    ]),
    [],
  );
  series.points[1].revision = 0;
  const { facts } = openPanel(series, 1, { names: { revisions: [["a", "s", "", ""]] } });
  assert.equal(facts.Commit, "a s (as in the night before)");
});

test("buttons of the panel", () => {
  const { box, did } = openPanel(makeSeries([1, 2, 3]), 1);
  for (const button of box.querySelectorAll("button")) button.click();
  assert.deepEqual(did, ["pin 0", "pin 2", `base ${(START + 1) * DAY}`, "reset"]);
});

test("the distribution of the samples is that of this night and the one before", () => {
  const series = makeSeries([1000, 1100], {
    samples: { 100: [900, 1000], 101: [1000, 2000, 3000, 4000] },
  });
  const { page, box } = openPanel(series, 1);
  const { datasets } = page.charts[0].data;
  assert.equal(box.dataset.samples, "2");
  assert.deepEqual(datasets[1].data, [
    { x: 1, y: 25 },
    { x: 2, y: 50 },
    { x: 3, y: 75 },
    { x: 4, y: 100 },
  ]);
  assert.equal(datasets[0].label, "night before");
  page.tracker.nightPanel.hide();
  assert.equal(box.hidden, true);
  assert.equal(page.charts[0].isDestroyed, true);
  series.samples = {};
  assert.equal(openPanel(series, 1).page.charts.length, 0);
});

// ---- the whole --------------------------------------------------------------------------------

const FIGURE =
  '<figure id="chart" data-series="s" data-look="2" data-divisor="1000" data-unit="µs">' +
  '<div class="canvas" hidden=""><canvas id="canvas"></canvas></div><div class="drawn"></div></figure>' +
  '<div id="tools" hidden=""><button data-range="30"></button><button data-range="all"></button>' +
  '<button data-mode="abs"></button><button data-mode="pct"></button><button data-mode="ceiling"></button>' +
  '<button data-mode="rate"></button><button id="log"></button><button id="csv"></button>' +
  '<select id="show"><option value="value"></option><option value="p95"></option></select></div>' +
  '<div id="night-panel" hidden=""></div><p id="load-errors" hidden=""></p>' +
  '<ul id="peers"><li data-series="p" data-label="peer" data-files="data/p.js" data-look="2"></li></ul>' +
  `<table class="nights"><tbody><tr data-time="${(START + 1) * DAY}"><td></td></tr></tbody></table>`;

// Ten nights of 1000 ns and more, of which each is 10 ns longer.
const addSeries = ({ data }) => {
  const column = (value) => [value, ...Array(9).fill(0)];
  data.add("nights", { id: [1, ...Array(9).fill(1)], time: [START * DAY, ...Array(9).fill(DAY)] });
  for (const [id, first] of [
    ["s", 1000],
    ["p", 500],
  ]) {
    data.add(id, { label: id, unit: "ns", lower_is_better: true, changes: [] });
    data.add(id, {
      ...{ exp: 0, value: [first, ...Array(9).fill(10)], night: [1, ...Array(9).fill(1)] },
      ...{ lo: column(1), hi: column(1), run: [1, ...Array(9).fill(1)], n: column(9) },
      ...{ revision: [[0, 0]], environment: [[0, 0]], flags: [[0, 0]] },
    });
  }
};

async function openTrend(hash = "", html = FIGURE) {
  const page = openPage(html, [...DRAW, "night_panel", "trend"], {
    hash,
    first: CHART,
    before: (tracker, window) => {
      addSeries(tracker);
      tracker.data.load = async (files) => {
        window.loaded = [...(window.loaded ?? []), ...files];
        return files.filter((file) => file.includes("missing"));
      };
    },
  });
  await settle();
  const chart = () => page.charts.findLast(({ canvas }) => canvas.id === "canvas");
  const byId = (id) => page.document.getElementById(id);
  return { page, chart, byId, ready: () => byId("chart").dataset.ready };
}
const settle = () => new Promise((resolve) => setImmediate(resolve));
const keydown = (node, key, more = {}) => {
  const event = new Event("keydown", { key, ...more });
  node.dispatchEvent(event);
  return event.defaultPrevented;
};

test("the chart takes the place of the drawing", async () => {
  const { page, chart, byId, ready } = await openTrend();
  assert.equal(ready(), "1 abs");
  assert.equal(byId("tools").hidden, false);
  assert.equal(page.document.querySelector(".canvas").hidden, false);
  assert.equal(page.document.querySelector(".drawn").hidden, true);
  assert.equal(chart().data.datasets[0].data.length, 10);
  const button = (name) => page.document.querySelector(`[data-mode="${name}"]`);
  assert.equal(button("ceiling").hidden, true);
  assert.equal(button("pct").hidden, false);
  assert.equal(button("abs").getAttribute("aria-pressed"), "true");
});

test("arrow keys pin a night", async () => {
  const { page, byId } = await openTrend();
  const canvas = byId("canvas");
  const pinned = () => Number(new URLSearchParams(page.hash().slice(1)).get("night")) / DAY - START;
  const walk = [
    ["ArrowLeft", 9],
    ["ArrowLeft", 8],
    ["ArrowRight", 9],
    ["ArrowRight", 9],
    ["PageUp", 0],
    ["ArrowLeft", 0],
    ["PageDown", 9],
    ["Home", 0],
    ["End", 9],
  ];
  for (const [key, expected] of walk) {
    assert.ok(keydown(canvas, key));
    assert.equal(pinned(), expected, key);
  }
  assert.equal(byId("night-panel").hidden, false);
  assert.equal(keydown(canvas, "x"), false);
  assert.equal(keydown(canvas, "Home", { ctrlKey: true }), false);
  assert.ok(keydown(canvas, "Escape"));
  assert.equal(page.hash(), "");
  assert.equal(byId("night-panel").hidden, true);
});

test("tools change the view, and the default leaves the address", async () => {
  const { page, byId, ready } = await openTrend();
  const click = async (selector) => {
    page.document.querySelector(selector).dispatchEvent(new Event("click"));
    await settle();
    return page.hash();
  };
  assert.equal(await click('[data-range="30"]'), "#range=30");
  assert.equal(await click('[data-range="all"]'), "");
  assert.equal(await click('[data-mode="pct"]'), "#mode=pct");
  assert.equal(ready(), "1 pct");
  assert.equal(await click('[data-mode="abs"]'), "");
  assert.equal(await click("#log"), "#axis=log");
  assert.equal(await click("#log"), "");
  const show = byId("show");
  show.value = "p95";
  show.dispatchEvent(new Event("change"));
  assert.equal(page.hash(), "#show=p95");
  show.value = "value";
  show.dispatchEvent(new Event("change"));
  assert.equal(page.hash(), "");
});

test("an overlay is loaded, dashed where it has the same look, and taken away again", async () => {
  const { page, chart } = await openTrend();
  const button = page.document.querySelector("#peers button");
  assert.equal(button.getAttribute("aria-label"), "Overlay peer");
  button.click();
  await settle();
  assert.equal(page.hash(), "#with=p");
  assert.deepEqual(page.window.loaded, ["data/p.js"]);
  const [own, peer] = chart().data.datasets;
  assert.deepEqual([own.borderDash, peer.borderDash], [[], [5, 4]]);
  assert.equal(peer.label, "peer");
  assert.equal(button.getAttribute("aria-pressed"), "true");
  chart().options.plugins.legend.onClick(null, { datasetIndex: 1 });
  assert.equal(page.hash(), "#with=p&hide=p");
  assert.equal(chart().data.datasets[1].hidden, true);
  button.click();
  await settle();
  assert.equal(chart().data.datasets.length, 1);
});

test("older years are loaded for a view that needs them, and an error is shown", async () => {
  const html = FIGURE.replace(
    'data-look="2"',
    'data-look="2" data-older="data/a.js data/missing.js"',
  );
  const { page, byId } = await openTrend("#range=5", html);
  assert.deepEqual(page.window.loaded, []);
  page.navigate("#range=all");
  await settle();
  assert.deepEqual(page.window.loaded, ["data/a.js", "data/missing.js"]);
  page.navigate("#range=all");
  await settle();
  const note = byId("load-errors");
  assert.deepEqual(
    [note.hidden, note.textContent],
    [false, "Could not load data/missing.js. Reload to retry."],
  );
  // Only what failed is tried again.
  assert.deepEqual(page.window.loaded, ["data/a.js", "data/missing.js", "data/missing.js"]);
  assert.equal(byId("chart").dataset.ready, "1 abs");
});

test("hits on the chart pin and link rows", async () => {
  const { page, chart } = await openTrend();
  const row = page.document.querySelector("tbody tr");
  chart().options.onHover(null, [{ datasetIndex: 0, index: 1 }]);
  assert.ok(row.classList.contains("linked"));
  chart().options.onHover(null, []);
  assert.equal(row.classList.contains("linked"), false);
  row.dispatchEvent(new Event("mouseenter"));
  assert.deepEqual(chart().active, [{ datasetIndex: 0, index: 1 }]);
  row.dispatchEvent(new Event("mouseleave"));
  assert.deepEqual(chart().active, []);
  chart().options.onClick(null, [{ datasetIndex: 0, index: 3 }]);
  assert.equal(page.hash(), `#night=${(START + 3) * DAY}`);
  chart().options.onClick(null, []);
  const zoomed = { scales: { x: { min: START + 2.5, max: START + 4.5 } } };
  chart().options.plugins.zoom.zoom.onZoomComplete({ chart: zoomed });
  assert.match(page.hash(), /range=2026-01-03..2026-01-05/);
});

test("an address pins its night and draws its view", async () => {
  const { byId, ready } = await openTrend(`#night=${(START + 4) * DAY}&mode=pct&hide=s`);
  assert.equal(ready(), "1 pct");
  assert.match(byId("night-panel").textContent, /Night of 2026-01-05/);
  const other = await openTrend("#night=12345");
  assert.equal(other.byId("night-panel").hidden, true);
});

test("other colours make another chart", async () => {
  const { page, chart } = await openTrend();
  const before = chart();
  page.window.dispatchEvent(new Event("stylechange"));
  assert.equal(before.isDestroyed, true);
  assert.notEqual(chart(), before);
});

test("keys change the view", async () => {
  const { page, byId, ready } = await openTrend();
  const press = (key) => {
    page.window.dispatchEvent(new Event("keydown", { key, target: page.document.body }));
    return page.hash();
  };
  assert.equal(press("l"), "#axis=log");
  assert.equal(press("l"), "");
  assert.equal(press("%"), "#mode=pct");
  assert.equal(ready(), "1 pct");
  assert.equal(press("%"), "");
  keydown(byId("canvas"), "Home");
  assert.match(press("x"), /night=/);
  assert.doesNotMatch(press("Escape"), /night=/);
  assert.equal(byId("night-panel").hidden, true);
});

test("a night of the panel becomes the baseline", async () => {
  const { page, byId, ready } = await openTrend(`#night=${(START + 4) * DAY}`);
  const button = byId("night-panel")
    .querySelectorAll("button")
    .find(({ textContent }) => /baseline/i.test(textContent));
  button.click();
  const state = new URLSearchParams(page.hash().slice(1));
  assert.equal(state.get("base"), String((START + 4) * DAY));
  assert.equal(state.get("mode"), "base");
  assert.equal(ready(), "1 base");
});
