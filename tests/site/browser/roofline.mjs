// The roofline.
import assert from "node:assert/strict";
import { open, visit } from "./support.mjs";

export const tests = {
  async "a point with a profile has its measured intensities"() {
    const { context, page } = await open({});
    await visit(page, "roofline/h200-node-1.h200-0.html");
    const [seen] = await page.evaluate(() => {
      const chart = Chart.getChart("canvas");
      const { left, right } = chart.chartArea;
      return chart.data.datasets
        .flatMap(({ data }) => data)
        .filter((point) => point.measured)
        .map((point) => ({
          measured: point.measured.map(Math.round),
          inside: point.measured.every((value) => {
            const x = chart.scales.x.getPixelForValue(value);
            return x > left && x < right;
          }),
          line: chart.options.plugins.tooltip.callbacks.label({ raw: point })[1],
        }));
    });
    assert.deepEqual(seen, {
      measured: [683, 171, 341],
      inside: true,
      line: "measured FLOP/B: DRAM 683, L2 171, L1 341",
    });
    await context.close();
  },
  async "a point of the roofline opens its series"() {
    const { context, page } = await open({});
    await visit(page, "roofline/epyc-lab.cpu.html");
    const at = await page.evaluate(() => {
      const e = Chart.getChart("canvas").getDatasetMeta(0).data[0],
        b = document.getElementById("canvas").getBoundingClientRect();
      return { x: b.x + e.x, y: b.y + e.y };
    });
    await page.mouse.click(at.x, at.y);
    await page.waitForURL(/series\/epyc-lab/);
    await context.close();
  },
  async "the roofline has choices, trails, and a different style for every backend"() {
    const { context, page } = await open({});
    const seen = () =>
      page.evaluate(() => {
        const c = Chart.getChart("canvas"),
          sets = c.data.datasets;
        return {
          points: sets.filter((s) => !s.ceiling).reduce((n, s) => n + s.data.length, 0),
          ceilings: sets
            .filter((s) => s.ceiling)
            .map((s) => `${s.label} ${s.ceiling.source}`)
            .sort(),
          styles: sets.filter((s) => !s.ceiling).map((s) => `${s.borderColor} ${s.pointStyle}`),
          rows: [...document.querySelectorAll("table.shares tbody tr")].filter((r) => !r.hidden)
            .length,
        };
      });
    await visit(page, "roofline/h200-node-1.h200-0.html");
    const all = await seen();
    assert.equal(all.points, all.rows);
    assert.equal(new Set(all.styles).size, all.styles.length);
    assert.deepEqual(all.ceilings, [
      "copy measured",
      "f16 datasheet",
      "f16 measured",
      "l2 read measured",
      "read measured",
    ]);
    const old = await page.evaluate(
      () =>
        Chart.getChart("canvas")
          .data.datasets.flatMap((s) => s.data)
          .filter((p) => p.older_s).length,
    );
    assert.equal(old, 6, "without a time last night: of an earlier night");
    await page.selectOption("#choose-type", "bf16");
    await page.selectOption("#choose-op", "Attention");
    const some = await seen();
    assert.equal(some.points, 18);
    assert.equal(some.rows, 18);
    assert.deepEqual(
      some.ceilings,
      ["copy measured", "f16 measured", "l2 read measured", "read measured"],
      "a type without a ceiling gets the highest one",
    );
    assert.match(
      await page.textContent("table.shares tbody tr:not([hidden]) .c-under"),
      /fastest type/,
    );
    await page.click("#trails");
    assert.equal(await page.getAttribute("#trails", "aria-pressed"), "true");
    const trail = await page.evaluate(
      () => Chart.getChart("canvas").data.datasets[0].data[0].trail,
    );
    assert.ok(
      trail.length > 4 && trail.length <= 8 && trail.every((t, i) => !i || t[0] > trail[i - 1][0]),
      "oldest first",
    );
    const hash = await page.evaluate(() => location.hash);
    await visit(page, `roofline/h200-node-1.h200-0.html${hash}`);
    assert.equal((await seen()).points, 18);
    assert.equal(await page.getAttribute("#trails", "aria-pressed"), "true");
    assert.match(await page.textContent("table.shares"), /\d+\s%/);
    await context.close();
  },
};
