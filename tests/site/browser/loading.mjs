// Data files that cannot be loaded.
import assert from "node:assert/strict";
import { basename } from "node:path";
import { PEER, SERIES, open, site, visit } from "./support.mjs";

const isBlockedFileError = (text) => /ERR_FAILED|Failed to load resource|^failed: /.test(text);

export const tests = {
  async "a data file that failed to load is reported and loaded again on demand"() {
    const { context, page } = await open({});
    const blocked = new Set();
    await page.route(/\/data\/.*\.js$/, (route) =>
      blocked.has(basename(route.request().url())) ? route.abort() : route.continue(),
    );
    await visit(page, SERIES);
    const overlay = page.locator(`#peers li[data-series="${PEER}"]`);
    const files = (await overlay.getAttribute("data-files")).split(" ");
    const loaded = await page.evaluate(() => [...document.scripts].map(({ src }) => src));
    const file = files.find((name) => !loaded.some((src) => src.endsWith(name)));
    assert.ok(file, "a file of the peer is loaded on demand");

    blocked.add(basename(file));
    await overlay.locator("button").click();
    await page.waitForSelector("#load-errors:not([hidden])");
    assert.match(await page.textContent("#load-errors"), /Could not load/);
    assert.ok(page.errors.every(isBlockedFileError), page.errors.join());
    page.errors.length = 0;

    blocked.clear();
    await overlay.locator("button").click(); // off
    await overlay.locator("button").click(); // on again
    await page.waitForFunction(() => document.getElementById("chart").dataset.ready === "2 abs");
    assert.ok(await page.isHidden("#load-errors"));
    await context.close();
  },
  async "a data script of the page that failed is loaded by the next request for it"() {
    const { context, page } = await open({});
    let isBlocked = true;
    const isNights = (url) => url.pathname.endsWith("/data/nights.js");
    await page.route(isNights, (route) => (isBlocked ? route.abort() : route.continue()));
    await page.goto("about:blank");
    await page.goto(`file://${site}/compare.html`);
    isBlocked = false;
    const result = await page.evaluate(async () => {
      const failed = await window.tracker.data.load(["data/nights.js"]);
      return [failed, (window.tracker.data.get("nights").id ?? []).length > 0];
    });
    assert.deepEqual(result, [[], true]);
    await context.close();
  },
};
