// The page of a kernel: its parts fold, percentiles, memory against speed, groups and speed-ups.
import assert from "node:assert/strict";
import { open, visit } from "./support.mjs";

const GPU = "h200-node-1.h200-0";

// The words of names in tables that stand on more than one line, with 12 backends beside them.
function brokenWords() {
  for (const row of document.querySelectorAll("table.groups tr"))
    while (row.cells.length < 14) row.append(row.cells[row.cells.length - 1].cloneNode(true));
  const range = document.createRange();
  const broken = [];
  let count = 0;
  const selector = ":is(.groups, .board, .shares) tbody th";
  for (const head of document.querySelectorAll(selector)) {
    const walker = document.createTreeWalker(head, NodeFilter.SHOW_TEXT);
    for (let text; (text = walker.nextNode());) {
      for (const word of text.data.matchAll(/\w{2,20}/g)) {
        range.setStart(text, word.index);
        range.setEnd(text, word.index + word[0].length);
        const lines = new Set([...range.getClientRects()].map(({ top }) => top));
        if (lines.size > 1) broken.push(word[0]);
        count += lines.size;
      }
    }
  }
  return { count, broken };
}

// Charts are drawn when they come into view, and what is below them moves meanwhile: a click with
// the pointer may begin on a summary and end beside it.
const press = (page, selector) => page.locator(selector).first().dispatchEvent("click");

export const tests = {
  async "the parts of a kernel page fold, and the address has the closed ones"() {
    const { context, page } = await open({});
    const closed = () =>
      page.evaluate(() =>
        [...document.querySelectorAll("details.fold:not([open])")].map(({ id }) => id),
      );
    await visit(page, "kernels/attention.html");
    assert.deepEqual(await closed(), []);
    await press(page, `[id="${GPU}-maps"] summary`);
    await press(page, `[id="${GPU}-problems"] summary`);
    await page.waitForFunction(() => location.hash.includes("problems"));
    const hash = await page.evaluate(() => location.hash);
    await visit(page, `kernels/attention.html${hash}`);
    assert.deepEqual(await closed(), [`${GPU}-maps`, `${GPU}-problems`]);
    await press(page, `[id="${GPU}-maps"] summary`);
    await page.waitForFunction(() => !location.hash.includes("maps"));
    await press(page, `nav.index a[href="#${GPU}-problems"]`);
    await page.waitForFunction(() => !document.querySelector("details.fold:not([open])"));
    await context.close();
  },
  async "a whole device folds, and a link to one of its parts opens it"() {
    const { context, page } = await open({});
    await visit(page, "kernels/attention.html");
    const maps = page.locator(`[id="${GPU}-maps"]`);
    await press(page, `[id="${GPU}"] > summary`);
    await maps.waitFor({ state: "hidden" });
    await page.waitForFunction(() => location.hash.includes("fold="));
    await press(page, `nav.index a[href="#${GPU}-maps"]`);
    await maps.waitFor({ state: "visible" });
    await context.close();
  },
  async "percentiles stand side by side, in the table and in the charts"() {
    const { context, page } = await open({});
    await visit(page, "kernels/gemm.html#metric=percentiles");
    const cells = await page.evaluate(() =>
      [...document.querySelectorAll("table.compare tbody td[data-more] a")].map(
        (link) => link.textContent,
      ),
    );
    const known = cells.filter((text) => /^[\d.,]+ · [\d.,]+ · [\d.,]+\s[mµn]s$/.test(text));
    assert.ok(known.length > 3, `${cells.slice(0, 5)}`);
    for (const text of known) {
      const [p50, p95, p99] = text.split(" · ").map((part) => parseFloat(part.replace(",", "")));
      assert.ok(p50 <= p95 && p50 <= p99, text);
    }
    const [y, hi] = await page.evaluate(() => {
      dispatchEvent(new Event("beforeprint"));
      const chart = Chart.getChart(document.querySelector(".scaling canvas"));
      const point = chart.data.datasets[0].data[0];
      return [point.y, point.hi];
    });
    assert.ok(hi > y, `a mark from ${y} to ${hi}`);
    assert.equal(await page.locator(".peak-note:visible").count(), 0, "times have no peak");
    await context.close();
  },
  async "a device with known memory has a chart of the rate over it"() {
    const { context, page } = await open({});
    await visit(page, "kernels/attention.html");
    const shown = await page.evaluate(() => {
      dispatchEvent(new Event("beforeprint"));
      return [...document.querySelectorAll(".memory-speed:not([hidden])")].map((holder) => {
        const { data, scales } = Chart.getChart(holder.querySelector("canvas"));
        return {
          title: holder.querySelector("h3").textContent,
          points: data.datasets.flatMap((set) => set.data),
          labels: [scales.x, scales.y].map(({ ticks }) => ticks.length),
        };
      });
    });
    assert.ok(shown.length > 0);
    for (const { title, points, labels } of shown) {
      assert.match(title, /^Rate over (device memory|workspace)$/);
      assert.ok(points.every(({ x, y, title: problem }) => x > 0 && y > 0 && problem));
      assert.ok(Math.min(...labels) >= 3, `${labels}`);
    }
    await context.close();
  },
  async "groups of problems are compared by family and by aspect"() {
    const { context, page } = await open({ javaScriptEnabled: false });
    await visit(page, "kernels/gemm.html");
    const rows = await page.locator("table.groups").first().locator("tbody tr").allTextContents();
    const texts = rows.map((text) => text.replaceAll(/\s+/g, " ").trim());
    assert.ok(
      texts.some((text) => /^square aspect ?\d+/.test(text)),
      `${texts}`,
    );
    for (const text of texts) assert.match(text, /\d\.\d\d× first in \d+ of \d+/);
    await context.close();
  },
  async "rows of a map keep their words whole on a phone"() {
    const { context, page } = await open({ viewport: { width: 390, height: 844 } });
    await visit(page, "kernels/gemm.html");
    const heads = page.locator("table.map tbody th");
    assert.ok((await heads.count()) > 0);
    for (const head of await heads.all())
      assert.ok((await head.boundingBox()).width > 90, await head.textContent());
    await context.close();
  },
  async "tables keep words whole, and scroll where many backends are too wide"() {
    for (const [width, path] of [
      [1280, "kernels/gemm.html"],
      [390, "kernels/gemm.html"],
      [390, "index.html"],
      [390, "roofline/epyc-lab.cpu.html"],
    ]) {
      const { context, page } = await open({ viewport: { width, height: 844 } });
      await visit(page, path);
      const { count, broken } = await page.evaluate(brokenWords);
      assert.ok(count > 5, `${path} has ${count} words`);
      assert.deepEqual(broken, [], `${path} at ${width} pixels`);
      const isWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      assert.ok(!isWide, `${path} scrolls sideways at ${width} pixels`);
      await context.close();
    }
  },
  async "the colours of speed-ups grow with every factor"() {
    const { context, page } = await open({});
    await visit(page, "kernels/attention.html#of=flash-attention");
    const cells = await page.evaluate(() =>
      [...document.querySelectorAll("table.map td[data-times]")]
        .map((cell) => ({
          factor: parseFloat(cell.querySelector("a").textContent),
          kind: cell.className,
          strength: parseFloat(cell.style.getPropertyValue("--strength")),
        }))
        .filter(({ strength }) => strength),
    );
    const sorted = cells.toSorted(
      (left, right) => Math.abs(Math.log(left.factor)) - Math.abs(Math.log(right.factor)),
    );
    assert.ok(sorted.length > 3);
    sorted.forEach(({ factor, kind, strength }, i) => {
      assert.equal(kind, factor > 1 ? "speed-up" : "slow-down");
      assert.ok(!i || strength >= sorted[i - 1].strength - 0.5, `${factor}: ${strength} %`);
    });
    const scale = await page.evaluate(() =>
      [...document.querySelectorAll(".map-scale:not([hidden]) span")].map((cell) =>
        parseFloat(cell.style.getPropertyValue("--strength") || "0"),
      ),
    );
    assert.ok(scale[8] > scale[7] && scale[7] > scale[6] && scale[6] > scale[5], `${scale}`);
    await context.close();
  },
};
