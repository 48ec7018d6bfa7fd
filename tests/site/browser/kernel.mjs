// The page of a kernel: rankings, maps and scaling charts.
import assert from "node:assert/strict";
import { SERIES, open, visit } from "./support.mjs";

export const tests = {
  async "backends of one name are told apart; modes are not ranked together"() {
    const { context, page } = await open({});
    await visit(page, "kernels/gemm.html");
    const tables = await page.evaluate(() =>
      [...document.querySelectorAll("main section")].map((s) => ({
        name: s.querySelector("h2").textContent.trim(),
        heads: [...s.querySelectorAll("table.compare thead th.num")].map((th) => th.textContent),
        best: [...s.querySelectorAll("table.compare tbody tr")].map(
          (tr) => tr.querySelectorAll("td.best").length,
        ),
      })),
    );
    const cpu = tables.filter((t) => t.name.startsWith("epyc-lab")),
      gpu = tables.filter((t) => t.name.startsWith("h200"));
    assert.deepEqual(
      cpu.map((t) => t.heads),
      [["blis", "cpu", "openblas", "openblas (openblas-debian)"], ["openblas"]],
    );
    assert.match(cpu[1].name, /· hot/);
    assert.ok(
      cpu[0].best.every((n) => n === 1),
      `one best in each row: ${cpu[0].best}`,
    );
    assert.equal(gpu.length, 2);
    assert.match(gpu[1].name, /· sustained/);
    assert.ok(!gpu[0].name.includes("paced"), "the usual mode is not named");
    await visit(page, SERIES);
    const peers = await page.evaluate(() =>
      [...document.querySelectorAll("#peers li")].map((li) => li.querySelector("a").textContent),
    );
    assert.deepEqual(peers, ["blis", "cpu", "openblas (openblas-debian)"]);
    await visit(page, "roofline/h200-node-1.h200-0.html");
    assert.ok(!(await page.textContent("table.shares")).includes("sustained"));
    await visit(page, "roofline/epyc-lab.cpu.html");
    const labels = await page.evaluate(() =>
      [
        ...new Set(
          [...document.querySelectorAll("table.shares tbody th .sub")].map(
            (e) => e.textContent.split(" · ")[0],
          ),
        ),
      ].sort(),
    );
    assert.deepEqual(labels, ["blis", "cpu", "openblas", "openblas (openblas-debian)"]);
    await context.close();
  },
  async "a kernel page has maps of the fastest backend and scaling charts"() {
    const { context, page } = await open({});
    await visit(page, "kernels/attention.html");
    const map = await page.evaluate(() => {
      const t = document.querySelector("table.map");
      return {
        head: [...t.querySelectorAll("thead th")].map((e) => e.textContent.trim()),
        rows: [...t.querySelectorAll("tbody tr")].map((tr) =>
          [...tr.children].map((e) => e.textContent.trim()),
        ),
        caption: t.caption.textContent,
      };
    });
    assert.deepEqual(map.head, ["Sequence \\ Batch", "1", "2", "4"]);
    assert.equal(map.rows.length, 3);
    assert.match(
      map.rows[0][1],
      /^cutlass · 128x256x64 1\.\d\d×$/,
      "short ones: the smaller fixed cost wins",
    );
    assert.match(map.rows[2][3], /^flash-attention 1\.\d\d×$/);
    assert.match(map.caption, /^Forward, .*head dimension 128/);
    for (const c of await page.locator(".scaling .small-canvas").all())
      await c.scrollIntoViewIfNeeded(); // drawn when they come into view
    await page.waitForFunction(() =>
      [...document.querySelectorAll(".scaling .small-canvas")].every((frame) =>
        Chart.getChart(frame.querySelector("canvas")),
      ),
    );
    const charts = await page.evaluate(() =>
      [...document.querySelectorAll(".scaling canvas")].map((c) =>
        Chart.getChart(c).data.datasets.map((d) => [d.label, d.data.length]),
      ),
    );
    const titles = await page.evaluate(() =>
      [...document.querySelectorAll(".scaling figcaption")].map((e) => e.textContent),
    );
    assert.ok(titles.every((title) => /head dimension/.test(title)));
    const overBatch = await page.evaluate(() =>
      [...document.querySelectorAll(".scaling figure[data-over] canvas")].map((canvas) => {
        const { data, options } = Chart.getChart(canvas);
        return [options.scales.x.title.text, ...data.datasets[0].data.map(({ x }) => x)];
      }),
    );
    assert.deepEqual(overBatch, Array(3).fill(["Batch", 1, 2, 4]));
    assert.equal(titles.filter((title) => /, length [0-9,]+$/.test(title)).length, 3);
    const gpu = [
      ["cutlass · 128x256x64", 3],
      ["flash-attention", 3],
    ];
    assert.deepEqual(charts, [
      ...[gpu, gpu, gpu, gpu], // a line is one batch or one number of tokens
      ...[gpu, gpu, gpu], // or over the batch, at one length
      [
        ["cpu", 3],
        ["openblas", 3],
      ],
    ]);
    assert.deepEqual(
      titles.slice(0, 4).map((title) => /[^,]*(,\d+ tokens)?$/.exec(title)[0]),
      [" batch 1", " batch 2", " 4,096 tokens", " batch 4"],
    );
    assert.deepEqual(page.errors, []);
    await context.close();
  },
  async "a kernel page begins with the GPUs and has an index of its parts"() {
    const { context, page } = await open({});
    await visit(page, "kernels/attention.html");
    const index = await page.evaluate(() =>
      [...document.querySelectorAll("nav.index li")].map((li) =>
        [...li.querySelectorAll("a")].map((a) => [
          a.textContent,
          document.getElementById(decodeURIComponent(a.hash.slice(1))) !== null,
        ]),
      ),
    );
    assert.ok(
      index.flat().every(([, exists]) => exists),
      JSON.stringify(index),
    );
    assert.match(index[0][0][0], /^h200/);
    assert.match(index.at(-1)[0][0], /^epyc-lab/);
    assert.deepEqual(
      index[0].slice(1).map(([text]) => text),
      ["charts", "maps", "dispatch table", "problems"],
    );
    await context.close();
  },
  async "the dispatch table names a backend for each problem and can be downloaded"() {
    const { context, page } = await open({});
    await visit(page, "kernels/attention.html");
    const rows = await page.evaluate(() =>
      [...document.querySelector("table.dispatch").tBodies[0].rows].map((row) =>
        [...row.cells].map((cell) => cell.textContent.trim()),
      ),
    );
    const problems = await page.evaluate(
      () =>
        document.querySelector("table.dispatch").closest("section").querySelector("table.compare")
          .tBodies[0].rows.length,
    );
    assert.equal(rows.length, problems);
    const short = rows.find(([problem]) => problem === "attention bf16 B1 H16 S1024 D128");
    assert.equal(short[1], "cutlass · 128x256x64");
    assert.match(short[2], /\s[mµ]s$/);
    assert.match(short[3], /\sTFLOP\/s$/);
    assert.match(short[6], /^flash-attention, \d+ % slower$/);
    const links = await page.evaluate(() =>
      [...document.querySelector(".downloads").querySelectorAll("a[download]")].map(
        (a) => a.href.split("/dispatch/")[1],
      ),
    );
    assert.deepEqual(
      links,
      ["json", "csv", "h"].map((suffix) => `attention@h200-node-1.h200-0.${suffix}`),
    );
    assert.deepEqual(page.errors, []);
    await context.close();
  },
  async "a kernel page ranks by other metrics and maps speed-ups"() {
    const { context, page } = await open({});
    const table = () =>
      page.evaluate(() =>
        [...document.querySelector("#epyc-lab\\.cpu table.compare").rows].map((tr) =>
          [...tr.cells].map((td) => td.textContent.replace(/\s+/g, " ").trim()),
        ),
      );
    await visit(page, "kernels/attention.html");
    const before = await table();
    assert.deepEqual(
      await page.evaluate(() => [...document.getElementById("metric").options].map((o) => o.value)),
      ["", "percentiles", "p95", "p99", "energy", "workspace", "memory", "launch", "build"],
    );
    await page.selectOption("#metric", "energy");
    const after = await table();
    assert.match(after[1][1], /^\d+(\.\d+)? [mµ]?J best$/);
    assert.match(after[1][2], /^\d+(\.\d+)? [mµ]?J \d\.\d\d×$/);
    assert.match(after.at(-2)[0], /^Energy per run relative to the best/);
    assert.equal(
      await page.evaluate(() => {
        dispatchEvent(new Event("beforeprint")); // draws those that are not on the screen
        const chart = Chart.getChart(document.querySelector(".scaling canvas"));
        return chart.options.scales.y.title.text;
      }),
      "Energy per run",
    );
    await page.selectOption("#metric", "build");
    assert.match((await table())[1][1], /^34\.50 s tie$/);
    assert.match(await page.evaluate(() => location.hash), /metric=build/);
    await page.selectOption("#metric", "");
    assert.deepEqual(await table(), before);
    const map = () =>
      page.evaluate(() =>
        [...document.querySelectorAll("table.map tbody tr")].map((tr) =>
          [...tr.cells]
            .slice(1)
            .map((td) => [td.textContent.replace(/\s+/g, " ").trim(), td.className]),
        ),
      );
    const best = await map();
    await page.selectOption(".map-tools select:first-of-type", "flash-attention");
    const of = await map();
    assert.match(of[0][0][0], /^0\.8\d× slower$/);
    assert.match(of[2][2][0], /^1\.3\d× faster$/);
    assert.equal(of[2][2][1], "speed-up");
    await page.selectOption(".map-tools select:last-of-type", "cutlass · 128x256x64");
    assert.deepEqual(await map(), of, "there are only two backends");
    const hash = await page.evaluate(() => location.hash);
    await visit(page, `kernels/attention.html${hash}`);
    assert.deepEqual(await map(), of);
    assert.match(await page.textContent(".map-note"), /Speed-up of flash-attention over cutlass/);
    await page.selectOption(".map-tools select:first-of-type", "");
    assert.deepEqual(await map(), best);
    await context.close();
  },
  async "hovering over one scaling chart marks the same size in all"() {
    const { context, page } = await open({});
    await visit(page, "kernels/gemm.html");
    const charts = page.locator(".scaling canvas");
    const shown = await page.evaluate(() => {
      dispatchEvent(new Event("beforeprint")); // draws those that are not on the screen
      const all = [...document.querySelectorAll(".scaling canvas")].map((c) => Chart.getChart(c)),
        first = all[0].data.datasets[0].data,
        x = first
          .map((p) => p.x)
          .find((v) => all[1].data.datasets.some((s) => s.data.some((p) => p.x === v)));
      all[0].options.onHover(
        {},
        [{ datasetIndex: 0, index: first.findIndex((p) => p.x === x) }],
        all[0],
      );
      return {
        x,
        active: all[1]
          .getActiveElements()
          .map((a) => all[1].data.datasets[a.datasetIndex].data[a.index].x),
      };
    });
    assert.ok((await charts.count()) > 1);
    assert.ok(
      shown?.active.length && shown.active.every((x) => x === shown.x),
      JSON.stringify(shown),
    );
    await context.close();
  },
};
