// The overview, alerts, revisions and environments.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SERIES, open, pages, site, visit } from "./support.mjs";

export const tests = {
  async "the matrix of the overview links to the filtered list"() {
    const { context, page } = await open({});
    await visit(page, "index.html");
    assert.equal(await page.locator(".group").count(), 0, "the overview lists no series");
    await page
      .locator("table.matrix tbody tr", { hasText: "h200-node-1" })
      .locator("td a")
      .first()
      .click();
    await page.waitForURL(/lists\/index\.html/);
    assert.equal(await page.textContent("#filter-count"), "14 of 66");
    await context.close();
  },
  async "revisions and environments list their change points; unsupported series are not listed"() {
    const { context, page } = await open({});
    await visit(page, "index.html");
    await page.locator('.causes a:text("Everything this commit changed")').first().click();
    await page.waitForURL(/revisions\/openblas-/);
    const verdicts = await page.evaluate(() =>
      [...document.querySelectorAll("table.verdicts tbody tr")].map((tr) => tr.textContent),
    );
    assert.equal(verdicts.length, 2);
    assert.match(verdicts.join(), /1024x1024x1024.*acked.*2048x2048x2048.*acked/s);
    await visit(page, "upstreams/index.html");
    await page.click('table a:text-is("openblas")');
    await page.waitForURL(/upstreams\/openblas/);
    await page
      .locator("tbody tr", { has: page.locator(".text-bad") })
      .first()
      .locator(".rev a")
      .click();
    await page.waitForURL(/revisions\/openblas-/);
    const row = await page.textContent("table.change-points tbody tr");
    assert.match(row, /attention f32 B1 H16 S8192.*\+[45]\.\d.*slower/);
    assert.match(
      await page.getAttribute('.title a[href*="compare"]', "href"),
      /^https:\/\/github\.com\/OpenMathLib\/OpenBLAS\/compare\//,
    );
    const functions = await page.evaluate(() =>
      [...document.querySelectorAll("table.functions tbody tr")].map((tr) =>
        [...tr.children].map((e) => e.textContent.trim()),
      ),
    );
    if (functions.length)
      assert.match(functions[0].join(" | "), /openblas \| (changed|new|gone|unchanged)/);
    await visit(page, SERIES);
    const facts = await page.evaluate(() =>
      Object.fromEntries(
        [...document.querySelectorAll("aside dt")].map((dt) => [
          dt.textContent,
          dt.nextElementSibling.textContent,
        ]),
      ),
    );
    assert.deepEqual(
      [facts.Function, facts.Algorithm, facts.Workspace, facts.Energy],
      ["gemm_kernel", "tile 128x256", "1.049\u00a0MB", "633.5\u00a0mJ"],
    );
    assert.ok([128, 136, 144].includes(+facts.Registers));
    assert.equal(facts.Instructions, "total=816 LDL=12 BAR=1");
    const code = await page.evaluate(() =>
      [...document.querySelectorAll("aside .plain-list li .sub")].map((e) => e.textContent),
    );
    assert.deepEqual([...new Set(code)].sort(), ["changed", "unchanged"]);
    await visit(page, "environment.html");
    const change = await page.textContent(".timeline li");
    assert.match(change, /2026-11-06.*31 better.*governor powersave → performance/s);
    for (const path of ["kernels/attention.html", "lists/index.html"]) {
      await visit(page, path);
      const gpu = await page.evaluate(() =>
        [...document.querySelectorAll("main section, .group")]
          .map((s) => s.textContent)
          .filter((t) => t.includes("S4096"))
          .join(),
      );
      assert.ok(gpu.includes("cutlass"));
      assert.ok(!gpu.includes("unsupported"), path);
    }
    await context.close();
  },
  async "the headline, the machines, the tiles, the causes and the standings of the overview"() {
    const { context, page } = await open({});
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await visit(page, "index.html");
    const texts = (selector) =>
      page.evaluate(
        (s) => [...document.querySelectorAll(s)].map((e) => e.innerText.replace(/\s+/g, " ")),
        selector,
      );
    assert.match(
      (await texts(".headline"))[0],
      /^2 regressions, 1 failure, 1 improvement last night\. Worst: gemm f32 1024x1024x1024 nn, openblas \+9\.5 % on epyc-lab \(1 other series: \+6\.0 %\), first bad commit 5eed5eed5eed \(Somebody Else\), 99\.7 % confidence\./,
    );
    const machines = await texts("table.machines tbody tr");
    assert.equal(machines.length, 3);
    assert.match(machines[1], /^epyc-lab AMD EPYC.*incomplete measure failed: some jobs/);
    assert.equal(await page.locator("table.machines .squares").nth(1).locator("rect").count(), 30);
    const tiles = await texts(".tiles-grid .card");
    assert.ok(tiles.length <= 6);
    assert.match(
      tiles[0],
      /^GEMM NVIDIA H200 \d+\.\d TFLOP\/s \d+ % of datasheet peak.*Index \d+\.\d noise .*, \d+ nights/,
    );
    const causes = await texts("table.causes tbody tr");
    assert.equal(causes.length, 3, "two regressions of one commit are one row");
    assert.match(causes[0], /^regression gemm f32 1024.*First bad commit.*2 series.*acked/);
    assert.match(causes[1], /^failure gemm f32 2048.*wrong/);
    assert.match(causes[2], /^improvement /);
    assert.match((await texts("table.board tbody tr"))[0], /TFLOP\/s \d+ % of peak best/);
    await page.click("#copy");
    await page.waitForFunction(() => document.getElementById("copied").textContent !== "");
    const summary = await page.evaluate(() => document.getElementById("summary").textContent);
    assert.match(
      summary,
      /^# Kernel nightly\n\n2 regressions.*\n\n## What changed\n\n\| Change \| /,
    );
    assert.deepEqual(page.errors, []);
    await context.close();
  },
  async "series skipped for one reason are one line; changes name date, commit and efficiency"() {
    const { context, page } = await open({});
    await visit(page, "index.html");
    const cards = await page.evaluate(() =>
      [...document.querySelectorAll("table.causes tbody tr, table.stack tbody tr")].map((li) =>
        li.innerText.replace(/\s+/g, " "),
      ),
    );
    const missing = cards.filter((c) => /^6 series/.test(c));
    assert.equal(missing.length, 1, cards.join("\n"));
    assert.match(
      missing[0],
      /^6 series h200-node-1\/h200-0 skipped .*skipped: the night's budget \(budgets\.night\) was spent/,
    );
    assert.match(
      cards.find((c) => c.startsWith("regression")),
      /gemm f32 1024x1024x1024 nn.*\+9\.\d %.*\d+ % of roofline.*First bad commit 5eed5eed5eed.*99\.7 % confidence.*last night acked/,
    );
    assert.match(
      await page.textContent(".title p.muted"),
      /\d open alerts, \d of them new, the oldest since 2026-11-\d\d/,
    );
    assert.match(
      await page.textContent("table.matrix"),
      /6 skipped.*median roofline efficiency \d+\s%/s,
    );
    await page.click('table.stack th > a:text("6 series")');
    await page.waitForURL(/lists\/index\.html#status=skipped/);
    assert.match(await page.textContent("#filter-count"), /^6 of /);
    await visit(
      page,
      pages(site)
        .filter((f) => /^nights\/.*h200/.test(f))
        .at(-1),
    );
    const night = await page.evaluate(() =>
      [...document.querySelectorAll("tbody th")]
        .map((th) => th.textContent.replace(/\s+/g, " "))
        .filter((t) => t.includes("7168x2048")),
    );
    assert.deepEqual(
      night.map((t) => t.slice(0, 32)),
      ["6 series for example gemm bf16 1", "6 series for example gemm bf16 1"],
      "one verdict, one failure",
    );
    await context.close();
  },
  async "alerts of one commit form a group with state, first bad commit, pairs and notes"() {
    const { context, page } = await open({});
    await visit(page, "alerts.html");
    const group = page.locator("article.alert", { hasText: "2 series of openblas" });
    const text = (await group.innerText()).replace(/\s+/g, " ");
    assert.match(
      text,
      /2 series of openblas: \+\d\.\d % to \+9\.\d % acked by jane epyc-lab\/cpu · since 2026-11-20 .* cause: code · tracker alert show [0-9a-f]{8} Between [0-9a-f]{12} → [0-9a-f]{12}/,
    );
    assert.match(
      text,
      /First bad commit 5eed5eed5eed Unroll the inner loop by eight by Somebody Else, 2026-11-\d\d: \+9\.2 % \(\+8\.9 to \+9\.5 %\).* 99\.7 % confidence/,
    );
    assert.match(text, /89\d\.\d µs → 97\d\.\d µs \+9\.\d % \+\d\.\d to \+\d\.\d % 16 pairs/);
    assert.match(text, /ack by jane, 2026-11-20 05:00: looking at it link by jane/);
    assert.equal(await group.locator("svg.ab-pairs circle").count(), 32);
    assert.equal(await group.locator("svg.spark").count(), 2);
    assert.match(
      await group.locator(".rev a").first().getAttribute("href"),
      /^https:\/\/github\.com\/OpenMathLib\/OpenBLAS\/compare\//,
    );
    const feed = readFileSync(join(site, "feed.xml"), "utf8"),
      ids = [...feed.matchAll(/alerts\.html#([^<]+)<\/id>/g)].map((m) => m[1]);
    assert.ok(ids.length >= 3);
    for (const id of ids)
      assert.equal(
        await page.locator(`[id="${id}"]`).count(),
        1,
        `${id} of the feed is on the page`,
      );
    await context.close();
  },
};
