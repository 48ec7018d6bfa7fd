// The page of a series: its trend, pinned nights, overlays and CSV.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { PEER, SERIES, open, visit } from "./support.mjs";

export const tests = {
  async "the trend is drawn"() {
    const { context, page } = await open({});
    await visit(page, SERIES);
    const painted = await page.evaluate(() => {
      const c = document.getElementById("canvas"),
        d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
      let n = 0;
      for (let i = 3; i < d.length; i += 4) n += d[i] > 0;
      return n / (d.length / 4);
    });
    assert.ok(painted > 0.01, `only ${painted} of the canvas is painted`);
    const points = await page.evaluate(() => Chart.getChart("canvas").data.datasets[0].data.length);
    assert.equal(points, 100);
    const rows = await page.evaluate(() => {
      const p = Chart.getChart("canvas").data.datasets[0].data.at(-1);
      return [p.y.toFixed(1), document.querySelector("table.nights tbody td").textContent];
    });
    assert.equal(rows[0], rows[1], "the newest point of the chart and of the table");
    await context.close();
  },
  async "the address restores range, mode, overlay and night"() {
    const { context, page } = await open({});
    await visit(page, SERIES);
    await page.click('[data-range="30"]');
    await page.click('[data-mode="pct"]');
    await page.click("#peers li button");
    await page.waitForFunction(() => document.getElementById("chart").dataset.ready === "2 pct");
    assert.equal(await page.getAttribute('[data-mode="pct"]', "aria-pressed"), "true");
    await page.focus("#canvas");
    await page.keyboard.press("End");
    await page.keyboard.press("ArrowLeft");
    const panel = await page.textContent("#night-panel"),
      hash = await page.evaluate(() => location.hash);
    assert.match(
      panel,
      /Night of 2026-11-19 01:\d\d.*Median.*µs.*from the night before.*interval.*Quartiles.*Commit[0-9a-f]{12}/,
    );
    assert.match(hash, /range=30/);
    await visit(page, SERIES + hash);
    await page.waitForFunction(() => document.getElementById("chart").dataset.ready === "2 pct");
    assert.equal(await page.textContent("#night-panel"), panel);
    const span = await page.evaluate(() => {
      const x = Chart.getChart("canvas").scales.x;
      return x.max - x.min;
    });
    assert.ok(span > 29 && span < 32, `30 days are ${span}`);
    await page.focus("#canvas");
    await page.keyboard.press("Escape");
    assert.ok(!(await page.evaluate(() => location.hash)).includes("range"));
    assert.ok(await page.isHidden("#night-panel"));
    assert.ok(hash.includes(encodeURIComponent(PEER)) || hash.includes("with="));
    await context.close();
  },
  async "a pinned night links to the commits since the night before"() {
    const { context, page } = await open({});
    await visit(page, SERIES);
    await page.focus("#canvas");
    await page.keyboard.press("End");
    await page.keyboard.press("ArrowLeft");
    const found = [];
    for (let i = 0; i < 4; i++, await page.keyboard.press("ArrowLeft"))
      found.push(
        await page.evaluate(
          () => document.querySelector('#night-panel a[href*="compare"]')?.href ?? "",
        ),
      );
    const links = found.filter(Boolean);
    assert.ok(links.length > 0 && links.length < 4, `a new commit every third night: ${found}`);
    for (const link of links)
      assert.match(
        link,
        /^https:\/\/github\.com\/OpenMathLib\/OpenBLAS\/compare\/[0-9a-f]{40}\.\.\.[0-9a-f]{40}$/,
      );
    await context.close();
  },
  async "a pinned night shows samples and run, and can be the baseline"() {
    const { context, page } = await open({});
    await visit(page, SERIES);
    await page.focus("#canvas");
    await page.keyboard.press("End");
    await page.keyboard.press("ArrowLeft");
    assert.equal(await page.getAttribute("#night-panel", "data-samples"), "2");
    const sets = await page.evaluate(() =>
      Chart.getChart(document.querySelector(".ecdf canvas")).data.datasets.map((s) => [
        s.data.length,
        s.data.at(-1).y,
      ]),
    );
    assert.deepEqual(sets, [
      [41, 100],
      [41, 100],
    ]);
    assert.match(await page.textContent("#night-panel"), /tracker show \d+/);
    assert.ok(await page.getAttribute('#night-panel a[href*="nights/"]', "href"));
    assert.ok(await page.getAttribute('#night-panel a[href*="revisions/"]', "href"));
    await page.click('#night-panel button:text("Use as baseline")');
    const last = await page.evaluate(() => Chart.getChart("canvas").data.datasets[0].data.at(-1).y);
    assert.ok(last > 8.5 && last < 10.5, `${last} % of the night before`);
    assert.match(await page.evaluate(() => location.hash), /mode=base/);
    await page.click('#night-panel button:text("Earlier")');
    assert.match(await page.textContent("#night-panel h3"), /2026-11-18/);
    await page.click('#night-panel button:text("Close")');
    assert.ok(await page.isHidden("#night-panel"));
    await context.close();
  },
  async "the address restores log axis, efficiency, quantity and hidden lines"() {
    const { context, page } = await open({});
    await visit(page, SERIES);
    await page.click('[data-mode="ceiling"]');
    const share = await page.evaluate(
      () => Chart.getChart("canvas").data.datasets[0].data.at(-1).y,
    );
    // 2.147 GFLOP in 978 us of 2900 GFLOP/s
    assert.ok(share > 70 && share < 80, `${share} % efficiency`);
    await page.click("#log");
    assert.equal(await page.evaluate(() => Chart.getChart("canvas").scales.y.type), "logarithmic");
    await page.click('[data-mode="abs"]');
    const median = await page.evaluate(
      () => Chart.getChart("canvas").data.datasets[0].data.at(-1).y,
    );
    await page.selectOption("#show", "p95");
    const p95 = await page.evaluate(() => Chart.getChart("canvas").data.datasets[0].data.at(-1).y);
    assert.ok(Math.abs(p95 / median - 1.02) < 0.001);
    await page.click("#peers li button");
    await page.waitForFunction(() => Chart.getChart("canvas").data.datasets.length === 2);
    await page.evaluate(() => {
      const c = Chart.getChart("canvas");
      c.options.plugins.legend.onClick({}, c.legend.legendItems[0]);
    });
    const hash = await page.evaluate(() => location.hash);
    for (const part of ["axis=log", "show=p95", "hide="])
      assert.ok(hash.includes(part), `${hash} has no ${part}`);
    await visit(page, SERIES + hash);
    const state = await page.evaluate(() => {
      const c = Chart.getChart("canvas");
      return [
        c.scales.y.type,
        c.isDatasetVisible(0),
        c.isDatasetVisible(1),
        document.getElementById("show").value,
      ];
    });
    assert.deepEqual(state, ["logarithmic", false, true, "p95"]);
    await context.close();
  },
  async "rows of the table and points of the chart are linked"() {
    const { context, page } = await open({});
    await visit(page, SERIES);
    await page.hover("table.nights tbody tr:nth-child(3)");
    const active = await page.evaluate(() =>
      Chart.getChart("canvas")
        .getActiveElements()
        .map((a) => a.index),
    );
    assert.deepEqual(active, [97]);
    const box = await page.locator("#canvas").boundingBox();
    await page.locator("#canvas").hover({ position: { x: box.width - 20, y: 200 } });
    await page.waitForSelector("table.nights tr.linked");
    await context.close();
  },
  async "dragging zooms"() {
    const { context, page } = await open({});
    await visit(page, SERIES);
    const box = await page.locator("#canvas").boundingBox();
    await page.mouse.move(box.x + 300, box.y + 100);
    await page.mouse.down();
    await page.mouse.move(box.x + 600, box.y + 140, { steps: 5 });
    await page.mouse.up();
    await page.waitForTimeout(100);
    assert.match(
      await page.evaluate(() => location.hash),
      /range=2026-\d\d-\d\d\.\.2026-\d\d-\d\d/,
    );
    assert.deepEqual(page.errors, []);
    await context.close();
  },
  async "the CSV has every point"() {
    const { context, page } = await open({});
    await visit(page, SERIES);
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("#csv")]);
    const lines = readFileSync(await download.path(), "utf8")
      .trim()
      .split("\n");
    assert.equal(lines.length, 101);
    assert.equal(lines[0], "time,value,lo,hi,unit,revision,subject");
    assert.match(
      lines[100],
      /^2026-11-20T01:\d\d:\d\dZ,97\d+(\.\d+)?,\d+(\.\d+)?,\d+(\.\d+)?,ns,[0-9a-f]{40},/,
    );
    await context.close();
  },
  async "every metric and mode of a series links to the others"() {
    const { context, page } = await open({});
    await visit(page, SERIES.replaceAll("1024", "512"));
    await page.click('aside a:text-is("time, hot")');
    await page.waitForURL(/hot\.html/);
    assert.match(await page.textContent(".title p"), /lower is better · hot/);
    await page.click('aside a:text-is("launch, cold")');
    await page.waitForURL(/launch/);
    await page.waitForFunction(() => document.getElementById("chart").dataset.ready);
    assert.match(await page.textContent(".tiles"), /Median2\.\d+\sµs/);
    assert.equal(await page.locator('aside a:text-is("time, cold")').count(), 1);
    assert.deepEqual(page.errors, []);
    await context.close();
  },
};
