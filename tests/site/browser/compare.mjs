// The comparison of two contenders.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { open, visit } from "./support.mjs";

export const tests = {
  async "the address restores a comparison of any two contenders"() {
    const { context, page } = await open({});
    const text = () => page.textContent("#verdict"),
      rows = () => page.evaluate(() => +document.getElementById("compare").dataset.ready);
    await visit(page, "compare.html");
    assert.ok((await rows()) > 0, "the first pair has something in common");
    await page.selectOption("#a", "openblas @ epyc-lab/cpu");
    await page.selectOption("#b", "openblas (openblas-debian) @ epyc-lab/cpu");
    assert.equal(await rows(), 4);
    assert.match(
      await text(),
      /^openblas \(openblas-debian\) is 1\d\.\d\s% slower than openblas \(geometric mean of 4 problems\)\. openblas is faster in 4, openblas \(openblas-debian\) in 0\.$/,
    );
    await page.click("#swap");
    assert.match(
      await text(),
      /^openblas is 1\d\.\d\s% faster than .* faster in 0, openblas in 4\.$/,
    );
    await page.selectOption("#b", "openblas (openblas-debian) @ epyc-lab/cpu");
    await page.selectOption("#a", "openblas @ epyc-lab/cpu");
    await page.selectOption("#b", "openblas @ epyc-lab/cpu");
    await page.selectOption("#a-age", "1");
    await page.selectOption("#op", "GEMM");
    const line = await page.evaluate(() =>
      [...document.querySelectorAll("#rows tr")]
        .map((tr) => tr.textContent)
        .find((t) => t.includes("1024x1024x1024")),
    );
    assert.match(line, /1\.(09|1\d)×/, "the regression of last night, seen against a week before");
    const hash = await page.evaluate(() => location.hash),
      before = await text();
    await visit(page, `compare.html${hash}`);
    assert.equal(await text(), before);
    await page.selectOption("#b", "cublas @ h200-node-1/h200-0");
    assert.match(await text(), /no problem in common/);
    // two revisions of one backend, then two nights
    await page.selectOption("#b", "openblas @ epyc-lab/cpu");
    await page.selectOption("#a-age", "rev");
    await page.waitForFunction(() => document.getElementById("a-at").options.length === 34);
    const revisions = await page.evaluate(() =>
      [...document.getElementById("a-at").options].map((o) => o.value),
    );
    await page.selectOption("#a-at", revisions[1]);
    await page.waitForFunction(
      (rev) => document.getElementById("verdict").textContent.includes(rev),
      revisions[1].slice(0, 12),
    );
    const moved = () =>
      page.evaluate(() =>
        [...document.querySelectorAll("#rows tr")]
          .map((tr) => tr.textContent)
          .find((t) => t.includes("1024x1024x1024")),
      );
    assert.match(await moved(), /1\.(09|10)×/, "the newest night against the revision before");
    await page.selectOption("#a-age", "night");
    await page.selectOption("#a-at", "2026-11-10");
    await page.selectOption("#b-age", "night");
    await page.selectOption("#b-at", "2026-10-20");
    await page.waitForFunction(() =>
      document.getElementById("verdict").textContent.includes("2026-10-20"),
    );
    assert.match(await moved(), /1\.0[67]×/, "before and after the change of the environment");
    const nights = await page.evaluate(() => location.hash),
      verdict = await text();
    await visit(page, `compare.html${nights}`);
    await page.waitForFunction(
      (expected) => document.getElementById("verdict").textContent === expected,
      verdict,
    );
    assert.deepEqual(page.errors, []);
    await context.close();
  },
  async "one backend over time: before, after, percent, and what changed"() {
    const { context, page } = await open({});
    const text = () => page.textContent("#verdict");
    await visit(page, "compare.html");
    await page.selectOption("#a", "openblas @ epyc-lab/cpu");
    await page.selectOption("#b", "openblas @ epyc-lab/cpu");
    await page.selectOption("#a-age", "1");
    await page.selectOption("#op", "GEMM");
    const line = await page.evaluate(() => document.querySelector("#rows tr").textContent);
    assert.match(line, /1024x1024x1024/, "the largest is the first");
    assert.match(line, /\+9\.\d.%|\+1\d\.\d.%/, "the change in percent");
    assert.match(line, /slower$/);
    assert.match(await text(), /^The time changed by .+ from openblas, .+ to openblas /);
    assert.deepEqual(
      [await page.textContent("#label-a"), await page.textContent("#label-b")],
      ["Before", "After"],
    );
    assert.match(
      await page.getAttribute(".bins", "aria-label"),
      /^Distribution of changes\. .*: \d/,
    );
    const shownRows = () => page.locator("#rows tr").count();
    const significant = await shownRows();
    await page.uncheck("#significant");
    assert.ok((await shownRows()) > significant, "the others are left out at first");
    await page.check("#significant");
    assert.match(
      await page.textContent("#left-out"),
      /^\d+ problems? without a significant change/,
    );
    await context.close();
  },
  async "a mean of unstable timings is called unreliable"() {
    const { context, page } = await open({});
    await page.route(/data\/compare-\d+\.js/, (route) => {
      // as of a night whose every timing was unstable
      const whole = readFileSync(
        decodeURIComponent(new URL(route.request().url()).pathname),
        "utf8",
      );
      route.fulfill({
        contentType: "text/javascript",
        body: whole.replace(/(,-?\d+,)\[(\d+,\d+,\d+)\]/g, "$1[$2,1]"),
      });
    });
    await visit(page, "compare.html");
    await page.selectOption("#a", "openblas @ epyc-lab/cpu");
    await page.selectOption("#b", "openblas (openblas-debian) @ epyc-lab/cpu");
    await page.waitForFunction(() => document.getElementById("compare").dataset.ready === "4");
    assert.match(
      await page.textContent("#verdict"),
      /in 0\. The mean is unreliable: 4 of 4 timings/,
    );
    await page.selectOption("#a-age", "1"); // a week before is not known to be
    await page.selectOption("#b-age", "1");
    assert.doesNotMatch(await page.textContent("#verdict"), /unreliable/);
    assert.deepEqual(page.errors, []);
    await context.close();
  },
};
