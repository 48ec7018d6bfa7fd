// The pages of trends: ranges, keys, causes.
import assert from "node:assert/strict";
import { open, visit } from "./support.mjs";

const charts = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll("figure.totals canvas")].map((canvas) => {
      const chart = Chart.getChart(canvas);
      return {
        names: chart.data.datasets.map(({ label }) => label),
        lengths: chart.data.datasets.map(({ data }) => data.length),
        first: chart.data.datasets.map(({ data }) => data[0].y),
        newest: chart.data.datasets.map(({ data }) => data.at(-1).y),
        marks: chart.options.marks.length,
        ticks: chart.scales.x.ticks.map(({ label }) => label),
      };
    }),
  );

export const tests = {
  async "trends: a range begins at 100, and the address has it"() {
    const { context, page } = await open({});
    await visit(page, "trends/index.html");
    assert.equal(await page.locator("table.trends tbody tr").count(), 5);
    await page.locator("table.trends th a").first().click();
    await page.waitForURL(/trends\/gemm\.html/);
    const all = await charts(page);
    assert.ok(all.length >= 3);
    assert.ok(all.every(({ ticks }) => ticks.length >= 3));
    assert.ok(all.flatMap(({ ticks }) => ticks).every((tick) => /^2026-\d\d-\d\d$/.test(tick)));
    await page.click('#tools button:text("30 nights")');
    const month = await charts(page);
    assert.ok(month[0].lengths[0] < all[0].lengths[0]);
    assert.deepEqual(firstValues(month), firstValues(month).fill(100));
    assert.match(page.url(), /range=30/);
    await visit(page, "trends/gemm.html#range=30");
    assert.deepEqual((await charts(page))[0].lengths, month[0].lengths);
    await context.close();
  },
  async "trends: what moved the index is numbered in the chart and in the list"() {
    const { context, page } = await open({});
    await visit(page, "trends/gemm.html");
    const [section] = await page.locator(".trend-section").all();
    const moved = await section.locator(".moved li").allTextContents();
    assert.equal((await charts(page))[0].marks, moved.length);
    assert.match(moved[0], /2026-10-30 \+0\.6\s% .*1 series · code .*Skip masked tiles/);
    await context.close();
  },
  async "trends: arrow keys select a night and say it"() {
    const { context, page } = await open({});
    await visit(page, "trends/gemm.html");
    await page.locator("figure.totals canvas").first().focus();
    await page.keyboard.press("Home");
    assert.match(await page.textContent("#night"), /^2026-\d\d-\d\d, cublas: 100\.0/);
    await page.keyboard.press("ArrowRight");
    const second = await page.textContent("#night");
    await page.keyboard.press("End");
    assert.notEqual(await page.textContent("#night"), second);
    await context.close();
  },
  async "trends: without JavaScript every index is drawn"() {
    const { context, page } = await open({ javaScriptEnabled: false });
    await visit(page, "trends/gemm.html");
    assert.ok((await page.locator("figure.totals svg.dates").count()) >= 3);
    assert.equal(await page.locator("#tools").isVisible(), false);
    await context.close();
  },
};

const firstValues = (list) => list.flatMap(({ first }) => first);
