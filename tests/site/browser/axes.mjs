// The axes of all charts, and the units of a trend.
import assert from "node:assert/strict";
import { SERIES, open, visit } from "./support.mjs";

const PAGES = [
  SERIES,
  "series/epyc-lab.cpu.openblas.gemm-f32-1024x1024x1024-nn.cold.html#axis=log",
  `${SERIES}#mode=rate`,
  `${SERIES}#mode=peak`,
  `${SERIES}#mode=pct`,
  "kernels/gemm.html",
  "kernels/attention.html#metric=energy",
  "trends/gemm.html",
  "roofline/epyc-lab.cpu.html",
];
// The labels of the y axes of all charts.
const labels = (page) =>
  page.evaluate(() => {
    dispatchEvent(new Event("beforeprint")); // draws those that are not on the screen
    return [...document.querySelectorAll("canvas")]
      .map((canvas) => Chart.getChart(canvas))
      .filter(Boolean)
      .map(({ scales }) => scales.y.ticks.map(({ label }) => label).filter(Boolean));
  });

export const tests = {
  async "every chart has at least three labels on its y axis, all different"() {
    const { context, page } = await open({});
    for (const path of PAGES) {
      await visit(page, path);
      const charts = await labels(page);
      assert.ok(charts.length, path);
      for (const own of charts) {
        assert.ok(own.length >= 3 && own.length <= 9, `${path}: ${own}`);
        assert.equal(new Set(own).size, own.length, `${path}: ${own}`);
      }
    }
    await context.close();
  },
  async "ticks of values are round, and enough on any range"() {
    const { context, page } = await open({});
    await visit(page, SERIES);
    const failed = await page.evaluate(() => {
      const found = [];
      for (let i = 0; i < 3000; i++) {
        const min = 10 ** (((i * 7) % 120) / 10 - 6);
        for (const isLogarithmic of [false, true]) {
          const max = min * (1 + 10 ** (((i * 13) % 90) / 10 - 3));
          const { ticks } = window.tracker.valueAxis.choose(min, max, isLogarithmic);
          if (ticks.length < 3 || ticks.length > 9) found.push([min, max, isLogarithmic, ticks]);
        }
      }
      return found;
    });
    assert.deepEqual(failed.slice(0, 3), []);
    const some = await page.evaluate(() => [
      window.tracker.valueAxis.choose(951, 1049, false).ticks,
      window.tracker.valueAxis.choose(-3, 8, false).ticks,
      window.tracker.valueAxis.choose(0.9, 1200, true).ticks,
    ]);
    assert.deepEqual(some, [
      [960, 980, 1000, 1020, 1040],
      [-2.5, 0, 2.5, 5, 7.5],
      [1, 3, 10, 30, 100, 300, 1000],
    ]);
    await context.close();
  },
  async "a trend is shown as rate and as percent of the datasheet's peak"() {
    const { context, page } = await open({});
    await visit(page, SERIES);
    const last = () =>
      page.evaluate(() => {
        const { data, options } = Chart.getChart("canvas");
        return [data.datasets[0].data.at(-1).y, options.scales.y.title.text];
      });
    const [time] = await last();
    await page.click('[data-mode="rate"]');
    assert.equal(await page.textContent('[data-mode="rate"]'), "TFLOP/s");
    const [rate, unit] = await last();
    assert.equal(unit, "TFLOP/s");
    assert.ok(Math.abs(rate - (2 * 1024 ** 3) / time / 1e6) < 1e-3 * rate, `${rate} of ${time}`);
    const hash = await page.evaluate(() => location.hash);
    assert.match(hash, /mode=rate/);
    await page.click('[data-mode="peak"]');
    const [share, title] = await last();
    assert.match(title, /datasheet/);
    assert.ok(share > 1 && share < 100, `${share} %`);
    await visit(page, SERIES + hash);
    assert.deepEqual(await last(), [rate, unit], "the address restores the unit");
    await page.hover("#canvas");
    const tooltip = await page.evaluate(() => Chart.getChart("canvas").tooltip.body[0].lines[0]);
    assert.match(tooltip, /: \d\.\d{3}\sTFLOP\/s/);
    await context.close();
  },
  async "tooltips open anywhere over a chart, at the nearest point"() {
    const { context, page } = await open({});
    for (const path of [SERIES, "kernels/gemm.html", "trends/gemm.html"]) {
      await visit(page, path);
      await page.locator("canvas").first().scrollIntoViewIfNeeded();
      await page.waitForFunction(() => Chart.getChart(document.querySelector("canvas")));
      const canvas = page.locator("canvas").first();
      const { width, height } = await canvas.boundingBox();
      for (const part of [0.31, 0.57, 0.83]) {
        await canvas.hover({ position: { x: width * part, y: height * 0.4 } });
        const lines = await page.evaluate(
          () => Chart.getChart(document.querySelector("canvas")).tooltip.opacity,
        );
        assert.equal(lines, 1, `${path} at ${part}`);
      }
    }
    await context.close();
  },
  async "drawings without scripts have round values and dates at their axes"() {
    const { context, page } = await open({ javaScriptEnabled: false });
    await visit(page, SERIES);
    const values = (await page.locator(".y-labels text").allTextContents()).map(Number);
    const steps = values.slice(1).map((value, i) => +(value - values[i]).toFixed(6));
    assert.ok(values.length >= 3, `${values}`);
    assert.equal(new Set(steps).size, 1, `${values}`);
    const dates = await page.locator(".x-labels text").allTextContents();
    assert.ok(dates.length >= 2, `${dates}`);
    for (const date of dates) assert.match(date, /^\d{4}-\d\d-\d\d$/);
    await context.close();
  },
};
