// The lists of series: filters and keyboard shortcuts.
import assert from "node:assert/strict";
import { axe, open, visit } from "./support.mjs";

export const tests = {
  async "filters hide rows and are restored from the address"() {
    const { context, page } = await open({});
    const shown = () =>
      page.evaluate(
        () =>
          [...document.querySelectorAll(".group tbody tr")].filter((r) => !r.closest("[hidden]"))
            .length,
      );
    await visit(page, "lists/index.html");
    const all = await shown();
    await page.keyboard.press("/");
    await page.keyboard.type("openblas acked");
    assert.equal(await shown(), 2);
    assert.equal(await page.textContent("#filter-count"), `2 of ${all}`);
    await visit(page, `lists/index.html${await page.evaluate(() => location.hash)}`);
    assert.equal(await shown(), 2);
    await page.focus("#filter");
    await page.keyboard.press("Escape");
    assert.equal(await shown(), all);
    await page.selectOption("#choose-op", "Attention");
    await page.selectOption("#choose-device", "epyc-lab/cpu");
    assert.equal(await shown(), 6);
    await page.selectOption("#choose-backend", "cpu");
    assert.equal(await shown(), 3);
    await visit(page, `lists/index.html${await page.evaluate(() => location.hash)}`);
    assert.equal(await shown(), 3);
    await page.selectOption("#choose-op", "");
    await page.selectOption("#choose-status", "improved");
    assert.equal(await shown(), 1);
    await page.selectOption("#choose-status", "");
    await page.selectOption("#choose-backend", "");
    await page.selectOption("#choose-type", "f16");
    assert.equal(await shown(), 0, "no f16 on the CPU");
    await context.close();
  },
  async '"?" lists the keyboard shortcuts'() {
    const { context, page } = await open({});
    await visit(page, "lists/index.html");
    await page.keyboard.press("?");
    assert.ok(await page.isVisible("dialog.keys"));
    assert.match(await page.textContent("dialog.keys"), /\/go to the filter/);
    await page.evaluate(axe);
    assert.deepEqual((await page.evaluate(() => window.axe.run("dialog.keys"))).violations, []);
    await page.keyboard.press("Escape");
    assert.ok(await page.isHidden("dialog.keys"));
    await page.focus("#filter");
    await page.keyboard.type("?");
    assert.ok(await page.isHidden("dialog.keys"), "a question mark that is typed is one");
    await context.close();
  },
};
