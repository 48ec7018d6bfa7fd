// The font that comes with the site: in pages and charts, with digits of one width; where
// it does not load, the font of the system.
import assert from "node:assert/strict";
import { SERIES, open, site, visit } from "./support.mjs";

const FONT = "inter-latin-wght-normal.woff2";
const CHARTS = [SERIES, "kernels/gemm.html", "roofline/epyc-lab.cpu.html", "trends/gemm.html"];

// Widths of a text of digits, in em, on the page and on a canvas with the font of the charts.
const digitWidths = () => {
  const context = document.createElement("canvas").getContext("2d");
  context.font = `100px ${window.Chart?.defaults.font.family ?? getComputedStyle(document.body).fontFamily}`;
  const span = document.createElement("span");
  span.style.fontSize = "100px";
  document.body.append(span);
  const widths = ["1111", "0000", "7777"].flatMap((digits) => {
    span.textContent = digits;
    return [span.getBoundingClientRect().width, context.measureText(digits).width];
  });
  span.remove();
  return [...new Set(widths.map(Math.round))];
};

export const tests = {
  async "pages and charts have the font of the site, with tabular figures"() {
    const { context, page } = await open({ bypassCSP: true });
    let requests = 0;
    page.on("request", (request) => (requests += request.url().endsWith(FONT)));
    for (const path of ["index.html", ...CHARTS]) {
      requests = 0;
      await visit(page, path);
      const state = await page.evaluate(async () => {
        await document.fonts.ready;
        return {
          faces: [...document.fonts].map(({ family, status }) => `${family} ${status}`),
          body: getComputedStyle(document.body).fontFamily,
          charts: window.Chart?.defaults.font.family ?? null,
        };
      });
      assert.deepEqual(state.faces, ["Inter loaded", "Inter loaded"], path);
      assert.match(state.body, /^Inter, /, path);
      if (path !== "index.html") assert.equal(state.charts, state.body, path);
      assert.equal(requests, 1, `${path}: requests for the font`);
      assert.equal((await page.evaluate(digitWidths)).length, 1, `${path}: widths of digits`);
    }
    await context.close();
  },
  async "a chart that was drawn before the font arrived is drawn again"() {
    const { context, page } = await open({});
    let isHeld = true;
    const held = [];
    await page.route(`**/${FONT}`, (route) => (isHeld ? held.push(route) : route.continue()));
    for (const path of CHARTS) {
      isHeld = true;
      await page.goto("about:blank");
      await page.goto(`file://${site}/${path}`, { waitUntil: "commit" });
      await page.waitForFunction(() =>
        Object.values(window.Chart?.instances ?? {}).some((chart) => chart.boxes?.length),
      );
      await page.evaluate(() => {
        window.before = Object.keys(window.Chart.instances);
      });
      isHeld = false;
      for (const route of held.splice(0)) await route.continue();
      await page.waitForFunction(() => {
        const now = Object.keys(window.Chart.instances);
        return now.length && !now.some((id) => window.before.includes(id));
      });
      assert.deepEqual(page.errors, [], path);
    }
    await context.close();
  },
  async "a font that does not load leaves the font of the system"() {
    const { context, page } = await open({ bypassCSP: true });
    await page.route(`**/${FONT}`, (route) => route.abort());
    await page.goto(`file://${site}/${SERIES}`);
    await page.waitForFunction(() => document.getElementById("chart").dataset.ready);
    const errors = page.errors.filter((text) => !/ERR_FAILED|woff2/.test(text));
    assert.deepEqual(errors, []);
    await context.close();
  },
};
