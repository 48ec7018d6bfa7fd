// The pages of traces: the timeline of a multiprocessor.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { open, site, visit } from "./support.mjs";

const TRACE = `traces/${readdirSync(join(site, "traces")).find((file) => file.includes("cutlass"))}`;
// The pointer reaches only what is on the screen.
async function findCanvas(page) {
  await page.locator("canvas").scrollIntoViewIfNeeded();
  return page.locator("canvas").boundingBox();
}
const view = (page) =>
  page.evaluate(() => document.querySelector("canvas").dataset.view.split(" ").map(Number));

export const tests = {
  async "the timeline zooms and pans: mouse, keys, buttons"() {
    const { context, page } = await open({});
    await visit(page, TRACE);
    const whole = await view(page);
    assert.equal(whole[0], 0);
    assert.ok(whole[1] > 170_000, whole);
    const box = await findCanvas(page);
    const drag = async (from, to) => {
      await page.mouse.move(box.x + box.width * from, box.y + 50);
      await page.mouse.down();
      await page.mouse.move(box.x + box.width * to, box.y + 50);
      await page.mouse.up();
    };
    await drag(0.4, 0.5);
    const zoomed = await view(page);
    const part = (zoomed[1] - zoomed[0]) / whole[1];
    assert.ok(part > 0.09 && part < 0.13 && zoomed[0] > whole[1] * 0.3, zoomed);
    await page.keyboard.down("Shift");
    await drag(0.5, 0.7);
    await page.keyboard.up("Shift");
    const panned = await view(page);
    assert.ok(panned[0] < zoomed[0], panned);
    assert.ok(Math.abs(panned[1] - panned[0] - (zoomed[1] - zoomed[0])) < 3, panned);
    await page.focus("canvas");
    await page.keyboard.press("ArrowRight");
    assert.ok((await view(page))[0] > panned[0]);
    await page.keyboard.press("Escape");
    assert.deepEqual(await view(page), whole);
    await page.click('button[data-zoom="in"]');
    assert.equal((await view(page))[1] - (await view(page))[0], Math.round(whole[1] / 2));
    await page.click('button[data-zoom="left"]');
    await page.click('button[data-zoom="left"]');
    assert.equal((await view(page))[0], 0); // not before the begin
    await page.click('button[data-zoom="all"]');
    assert.deepEqual(await view(page), whole);
    assert.deepEqual(page.errors, []);
    await context.close();
  },
  async "a bar says what it is"() {
    const { context, page } = await open({});
    await visit(page, TRACE);
    const box = await findCanvas(page);
    const labels = await page.evaluate(() => window.tracker.data.get("timeline-0").lanes);
    assert.deepEqual(labels, ["producer", "consumer 1", "consumer 2"]);
    // the second half of the second lane: matrix products, which go on beside the group
    let text = "";
    for (let x = 0.3; x < 0.4 && !text.startsWith("multiply"); x += 0.001) {
      await page.mouse.move(box.x + box.width * x, box.y + 44 + 30);
      text = await page.textContent(".timeline-info");
    }
    assert.match(text, /^multiply: 7\d\d\.\d\sns, from .* to .* · block 57, consumer 1$/);
    await page.mouse.move(box.x + 2, box.y + 44 + 30); // its name
    assert.match(await page.textContent(".timeline-info"), /^Point at a bar/);
    await context.close();
  },
  async "a finger pans the timeline"() {
    const { context, page } = await open({ hasTouch: true, isMobile: true });
    await visit(page, TRACE);
    await page.click('button[data-zoom="in"]');
    const before = await view(page);
    await page.evaluate(() => {
      const canvas = document.querySelector("canvas");
      canvas.setPointerCapture = () => {};
      const { left, top } = canvas.getBoundingClientRect();
      const send = (type, x) =>
        canvas.dispatchEvent(
          new PointerEvent(type, { pointerType: "touch", clientX: left + x, clientY: top + 50 }),
        );
      send("pointerdown", 500);
      send("pointermove", 300);
      send("pointerup", 300);
    });
    const after = await view(page);
    assert.ok(after[0] > before[0] && after[1] - after[0] === before[1] - before[0], after);
    await context.close();
  },
  async "without JavaScript the page has a drawing"() {
    const { context, page } = await open({ javaScriptEnabled: false });
    await visit(page, TRACE);
    assert.ok((await page.locator("svg.timeline rect").count()) > 100);
    assert.ok(await page.locator("svg.timeline").isVisible());
    assert.ok(!(await page.locator(".timeline-canvas").isVisible()));
    await context.close();
  },
};
