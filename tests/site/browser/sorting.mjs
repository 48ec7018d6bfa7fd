// Tables that sort, and the filters of nights and alerts.
import assert from "node:assert/strict";
import { axe, large, largeKinds, open, visit } from "./support.mjs";

const column = (page, name, table = "table.sortable") =>
  page.evaluate(
    ([selector, title]) => {
      const node = document.querySelector(selector);
      const index = [...node.tHead.rows[0].cells].findIndex(
        (th) => th.textContent.trim() === title,
      );
      return [...node.tBodies[0].rows].map((row) => {
        const cell = row.cells[index].cloneNode(true);
        for (const note of cell.querySelectorAll(".sub, .glyph")) note.remove();
        return cell.textContent.replaceAll(/\s+/g, " ").trim();
      });
    },
    [table, name],
  );
const orders = (page) =>
  page.evaluate(() =>
    [...document.querySelector("table.sortable").tHead.rows[0].cells].map((th) =>
      th.getAttribute("aria-sort"),
    ),
  );
const NS = { ns: 1, µs: 1e3, ms: 1e6, s: 1e9 };
const inNs = (text) => parseFloat(text) * NS[/[nµm]?s$/.exec(text)[0]];
const isSorted = (list) => list.every((v, i) => !i || list[i - 1] <= v);
const shown = (page, selector) =>
  page.evaluate(
    (rows) => [...document.querySelectorAll(rows)].filter((r) => !r.closest("[hidden]")).length,
    selector,
  );

export const tests = {
  async "a list sorts by a column, across units, and keeps the order in the address"() {
    const { context, page } = await open({});
    await visit(page, "lists/index.html");
    const before = await column(page, "Median");
    await page.click("table.sortable th:nth-child(3) button");
    const descending = (await column(page, "Median")).filter((text) => /\d/.test(text)).map(inNs);
    assert.ok(descending.length > 2 && isSorted(descending.toReversed()), String(descending));
    assert.deepEqual((await orders(page)).filter(Boolean), ["descending"]);
    await page.click("table.sortable th:nth-child(3) button");
    const sorted = await column(page, "Median");
    assert.ok(isSorted(sorted.filter((text) => /\d/.test(text)).map(inNs)), String(sorted));
    assert.deepEqual((await orders(page)).filter(Boolean), ["ascending"]);
    const hash = await page.evaluate(() => location.hash);
    assert.equal(hash, "#sort=Median");
    await visit(page, `lists/index.html${hash}`);
    assert.deepEqual(await column(page, "Median"), sorted);
    await page.evaluate(axe);
    assert.deepEqual((await page.evaluate(() => window.axe.run("table.sortable"))).violations, []);
    await page.focus("table.sortable th:nth-child(3) button");
    await page.keyboard.press("Enter");
    assert.deepEqual(await column(page, "Median"), before, "the third click restores the order");
    assert.deepEqual((await orders(page)).filter(Boolean), []);
    await context.close();
  },
  async "the dispatch table sorts"() {
    const { context, page } = await open({});
    await visit(page, "kernels/attention.html#sort=-Rate");
    const rates = (await column(page, "Rate", "table.dispatch")).map((text) => parseFloat(text));
    assert.ok(isSorted(rates.toReversed()) && rates[0] > rates.at(-1), String(rates));
    await context.close();
  },
  async "nights and alerts have filters that the address restores"() {
    const { context, page } = await open({});
    await visit(page, "nights/index.html");
    await page.focus("#filter");
    const all = await shown(page, ".group tbody tr");
    await page.selectOption("#choose-machine", "epyc-lab");
    const some = await shown(page, ".group tbody tr");
    assert.ok(some > 0 && some < all, `${some} of ${all}`);
    await visit(page, `nights/index.html${await page.evaluate(() => location.hash)}`);
    assert.equal(await shown(page, ".group tbody tr"), some);
    await visit(page, "alerts.html");
    const alerts = await shown(page, ".alert");
    await page.fill("#filter", "openblas");
    const found = await shown(page, ".alert");
    assert.ok(found > 0 && found < alerts, `${found} of ${alerts}`);
    assert.match(await page.textContent("#filter-count"), new RegExp(`^${found} of ${alerts}$`));
    await page.fill("#filter", "nothing has this word");
    assert.equal(await shown(page, ".alert"), 0);
    await context.close();
  },
  async "long lists are shown in pages that the address restores"() {
    const { context, page } = await open({});
    const path = largeKinds(large).find((file) => /^lists\/.*\.gemm\./.test(file));
    const rows = () =>
      page.evaluate(() =>
        [...document.querySelectorAll("tbody tr")]
          .filter((r) => r.offsetParent)
          .map((r) => r.id || r.textContent),
      );
    const label = () => page.textContent(".pager [role=status]");
    const height = () => page.evaluate(() => document.documentElement.scrollHeight);
    await visit(page, path, large);
    const total = Number((await label()).split(" ").at(-1).replace(",", ""));
    const elements = await page.evaluate(() => document.querySelectorAll("*").length);
    assert.ok(elements < 2000, `${elements} elements before another page is asked for`);
    assert.ok(total > 300, `${total} rows are too few for this test`);
    assert.equal((await rows()).length, 100);
    assert.ok((await height()) < 12000, `${await height()} px`);
    const first = await rows();
    await page.keyboard.press("]");
    assert.match(await label(), /^Page 2 of \d+: rows 101 to 200 of/);
    const second = await rows();
    assert.ok(second.length === 100 && !first.includes(second[0]));
    assert.equal(await page.evaluate(() => location.hash), "#page=2");
    await visit(page, `${path}#page=2`, large);
    assert.deepEqual(await rows(), second);
    await page.focus(".pager button:nth-of-type(1)");
    await page.keyboard.press("Enter");
    assert.deepEqual(await rows(), first);
    assert.equal(
      await page.evaluate(() => document.activeElement.getAttribute("aria-disabled")),
      "true",
      "a button keeps the focus at the first page",
    );
    await page.keyboard.press("Enter");
    assert.deepEqual(await rows(), first, "there is no page before the first");
    await visit(page, `${path}#page=9999`, large);
    assert.match(await label(), /^Page (\d+) of \1: /);
    await page.click("table.sortable th:nth-child(3) button");
    assert.match(await label(), /^Page 1 of/, "another order begins with its first page");
    assert.equal((await rows()).length, 100);
    const word = "4096";
    await page.fill("#filter", word);
    const found = await rows();
    assert.ok(found.length > 0 && found.every((text) => text.includes(word)));
    await page.fill("#filter", "");
    await page.click(".pager button:nth-of-type(3)");
    assert.equal((await rows()).length, total);
    assert.match(await page.evaluate(() => location.hash), /page=all/);
    await page.click(".pager button:nth-of-type(3)");
    await page.setViewportSize({ width: 390, height: 844 });
    assert.equal((await rows()).length, 100, "also on a phone");
    await page.fill("#filter", "no row has this word");
    assert.equal((await rows()).length, 0, "a phone hides what the filter leaves out");
    await page.fill("#filter", "");
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.emulateMedia({ media: "print" });
    assert.equal((await rows()).length, total, "paper has all rows");
    await context.close();
  },
};
