// Every kind of page: loads, theme, print, without JavaScript, hostile names, http.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { SERIES, open, pages, samples, site, visit } from "./support.mjs";

export const tests = {
  async "every page loads from disk without errors or requests"() {
    const { context, page } = await open({});
    for (const path of pages(site)) {
      await visit(page, path);
      const state = await page.evaluate(() => ({
        wide: document.documentElement.scrollWidth > innerWidth,
        h1: document.querySelectorAll("h1").length,
        chart: document.getElementById("chart")?.dataset.ready,
        canvas: !!document.querySelector("#canvas"),
      }));
      assert.equal(state.h1, 1, `${path}: one h1`);
      assert.ok(!state.wide, `${path}: scrolls sideways`);
      assert.ok(!state.canvas || state.chart, `${path}: its chart was not drawn`);
    }
    await context.close();
  },
  async "the theme changes from system to light to dark and is kept"() {
    const { context, page } = await open({ colorScheme: "dark" });
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    await visit(page, SERIES);
    assert.equal(await theme(), "dark");
    await page.click("#theme");
    assert.equal(await theme(), "light");
    await visit(page, "index.html");
    assert.equal(await theme(), "light");
    await page.click("#theme");
    assert.equal(await theme(), "dark");
    await context.close();
  },
  async "without JavaScript pages have tables and drawings, but no controls"() {
    const { context, page } = await open({ javaScriptEnabled: false });
    for (const path of samples().filter((p) => !p.includes("#"))) {
      await visit(page, path);
      assert.equal(
        await page.locator("button:visible, input:visible, select:visible, canvas:visible").count(),
        0,
        `${path}: controls without function`,
      );
      const rows = page
        .locator("tbody tr, article, .timeline li, .card, dl dd")
        .filter({ visible: true });
      if (path !== "compare.html") assert.ok(await rows.count(), `${path}: nothing to read`);
      else assert.ok(await page.locator(".no-js").isVisible());
    }
    await visit(page, "roofline/h200-node-1.h200-0.html");
    assert.ok(await page.locator("svg.roofline").isVisible());
    // marks that lie on each other are one
    const points = await page.locator("table.shares tbody tr").count();
    const marks = await page.evaluate(() =>
      [...document.querySelectorAll("svg.roofline .mark")].reduce(
        (n, e) => n + e.getAttribute("d").split("M").length - 1,
        0,
      ),
    );
    assert.ok(
      points > 30 && marks <= points && marks > points * 0.7,
      `${marks} marks of ${points} points`,
    );
    assert.deepEqual(await page.locator(".marks li").allTextContents(), [
      "cublas",
      "cutlass",
      "cutlass · 128x256x64",
      "flash-attention",
    ]);
    await visit(page, SERIES);
    assert.ok(await page.locator("svg.trend").isVisible());
    await context.close();
  },
  async "print is light, has drawings, and cuts nothing off"() {
    const { context, page } = await open({ colorScheme: "dark" });
    const PAPER_PX = 718; // A4 between the margins
    for (const path of samples().filter((p) => !p.includes("#"))) {
      await visit(page, path);
      await page.setViewportSize({ width: PAPER_PX, height: 1000 });
      await page.emulateMedia({ media: "print", colorScheme: "dark" });
      const paper = await page.evaluate(() => ({
        colour: getComputedStyle(document.body).backgroundColor,
        text: getComputedStyle(document.querySelector("h1")).color,
        canvas: [...document.querySelectorAll(".canvas canvas")].some((c) => c.offsetParent),
        cut: [...document.querySelectorAll(".scroll")].some(
          (e) => getComputedStyle(e).overflowX !== "visible",
        ),
        controls: [...document.querySelectorAll("button, select, input")]
          .filter((e) => e.offsetParent)
          .map((e) => e.id || e.textContent),
        navigation: document.querySelector(".top nav").offsetParent !== null,
        folded: [...document.querySelectorAll("details:not([open]) > :not(summary)")].filter(
          (e) => !e.checkVisibility({ contentVisibilityAuto: true }),
        ).length,
        wide: document.documentElement.scrollWidth - innerWidth,
        narrowest: Math.min(
          Infinity,
          ...[...document.querySelectorAll("tbody th:first-child")].map((e) => e.offsetWidth),
        ),
      }));
      assert.deepEqual([paper.navigation, paper.folded], [false, 0], path);
      assert.ok(paper.wide <= 0, `${path}: ${paper.wide} pixels wider than paper`);
      assert.ok(paper.narrowest >= 100, `${path}: a first column of ${paper.narrowest} pixels`);
      assert.deepEqual(
        [paper.colour, paper.text, paper.canvas, paper.cut],
        ["rgb(255, 255, 255)", "rgb(27, 33, 40)", false, false],
        path,
      );
      // there they say what is compared
      if (path !== "compare.html") assert.deepEqual(paper.controls, [], path);
      await page.emulateMedia({ media: null });
      await page.setViewportSize({ width: 1280, height: 900 });
    }
    await visit(page, SERIES);
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    assert.ok(await page.locator("svg.trend").isVisible());
    await context.close();
  },
  async "the index of a card is printed, the index of a page is not"() {
    const { context, page } = await open({});
    await page.emulateMedia({ media: "print" });
    await visit(page, "index.html");
    assert.ok(await page.locator(".card p.index").first().isVisible());
    await visit(page, "kernels/gemm.html");
    assert.equal(await page.locator("nav.index").count(), 1);
    assert.ok(!(await page.locator("nav.index").isVisible()));
    await context.close();
  },
  async "a dark page is printed with charts in light colours, in few pages, and is dark again"() {
    const { context, page } = await open({ colorScheme: "dark" });
    for (const path of ["kernels/gemm.html", "trends/gemm.html"]) {
      await visit(page, path);
      await page.waitForFunction(() => Object.keys(window.Chart?.instances ?? {}).length > 0);
      const ticks = () =>
        page.evaluate(() => {
          const [chart] = Object.values(window.Chart.instances);
          return chart.options.scales.y.ticks.color;
        });
      await page.evaluate(() => {
        window.printed = [];
        addEventListener("beforeprint", () => {
          const [chart] = Object.values(window.Chart.instances);
          window.printed.push(chart.options.scales.y.ticks.color);
        });
      });
      const dark = await ticks();
      await page.pdf({ format: "A4" });
      const [printed] = await page.evaluate(() => window.printed);
      assert.notEqual(printed, dark, path);
      await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
      assert.equal(await ticks(), dark, path);
    }
    await visit(page, "lists/index.html");
    const pdf = (await page.pdf({ format: "A4" })).toString("latin1");
    const sheets = pdf.match(/\/Type\s*\/Page\b/g).length;
    assert.ok(sheets <= 6, `${sheets} sheets for 67 series`);
    await context.close();
  },
  async "hostile names are text"() {
    const { context, page } = await open({});
    const hostile = pages(site).filter((f) => /script|onmouseover/.test(f));
    assert.ok(hostile.length > 5);
    for (const path of [
      ...hostile,
      "index.html",
      "lists/index.html",
      "alerts.html",
      "kernels/gemm.html",
    ]) {
      await visit(page, path);
      const found = await page.evaluate(() => ({
        text: document.body.innerText,
        odd: [
          ...document.querySelectorAll(
            "script:not([src]), img, iframe, textarea, main b[onmouseover], svg[onload], [onerror]",
          ),
        ].map((e) => e.outerHTML.slice(0, 80)),
      }));
      assert.deepEqual(found.odd, [], path);
      assert.match(found.text, /<script>|<b onmouseover|<svg onload|<<<</, path);
    }
    await context.close();
  },
};

// The same over http, under a path: nothing is asked for above it.
const server = createServer((request, response) => {
  const path = decodeURIComponent(new URL(request.url, "http://x").pathname),
    file = join(site, path.slice("/kernels/nightly".length));
  if (!path.startsWith("/kernels/nightly/") || !file.startsWith(site) || !existsSync(file)) {
    response.writeHead(404);
    return response.end();
  }
  const types = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
  };
  response.writeHead(200, { "content-type": types[extname(file)] ?? "text/plain" });
  response.end(readFileSync(file));
});
tests["over http, under a path, every kind of page works"] = async () => {
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const base = `http://127.0.0.1:${server.address().port}/kernels/nightly/`,
    { context, page } = await open({ allowed: base });
  for (const path of samples()) {
    await page.goto(base + encodeURI(path).replaceAll("%23", "#"));
    assert.deepEqual(page.errors, [], path);
  }
  await page.goto(`${base}compare.html`);
  await page.selectOption("#a-age", "night");
  await page.waitForFunction(() => document.getElementById("compare").dataset.ready !== "");
  assert.deepEqual(page.errors, []);
  await context.close();
  server.close();
};
