// The cost of pages in a browser: CPU time of the main thread until they are drawn, JavaScript
// heap, and compressed bytes of data. Usage: bench_pages.mjs SITE [--runs=N] [PAGE=MS:DATA_KB ...]
// Without PAGE it measures one page of every kind, without limits. Needs playwright-core
// (tests/site/package.json) and Chromium. A page counts as drawn when no file is being loaded and
// its main thread is idle.
import { chromium } from "playwright-core";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { gzipSync } from "node:zlib";

const args = process.argv.slice(2),
  runs = +(args.find((a) => a.startsWith("--runs=")) ?? "--runs=3").slice(7);
const [site, ...named] = args.filter((a) => !a.startsWith("--"));
const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];
let over = 0;

// The first page of each folder, and every page beside them.
function everyKind() {
  const kinds = new Map();
  for (const f of readdirSync(site, { recursive: true })
    .filter((f) => f.endsWith(".html"))
    .sort()) {
    const kind = dirname(f) === "." || f.endsWith("index.html") ? f : dirname(f);
    kinds.set(kind, kinds.get(kind) ?? f);
  }
  return [...kinds.values()].map((file) => ({ file, ms: Infinity, kb: Infinity }));
}
function parse(spec) {
  const [, file, ms, kb] = /^([^=]+)=(\d+):(\d+)$/.exec(spec) ?? [];
  if (!file) throw new Error(`${spec}: expected PAGE=MS:DATA_KB`);
  return { file, ms: +ms, kb: +kb };
}

// Waits until two frames and an idle callback have passed without a new request.
async function drawn(page, flow) {
  for (let end = Date.now() + 60000, asked = -1; asked !== flow.asked || flow.open;) {
    if (Date.now() > end)
      throw new Error(
        `${page.url()} is not drawn after a minute, ${flow.open} files are on their way`,
      );
    asked = flow.asked;
    await page.evaluate(
      () =>
        new Promise((then) =>
          requestAnimationFrame(() => requestAnimationFrame(() => requestIdleCallback(then))),
        ),
    );
  }
}

async function load(url) {
  const profile = mkdtempSync(join(tmpdir(), "bench-pages-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    viewport: { width: 1280, height: 900 },
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
  try {
    const page = context.pages()[0] ?? (await context.newPage()),
      cdp = await context.newCDPSession(page),
      files = [],
      flow = { asked: 0, open: 0 };
    page.on("request", (r) => {
      flow.asked++;
      flow.open++;
      if (/\/data\//.test(r.url())) files.push(r.url());
    });
    page.on("requestfinished", () => flow.open--);
    page.on("requestfailed", () => flow.open--);
    await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
    await page.goto(url, { waitUntil: "load" });
    await drawn(page, flow);
    const cpu = (await cdp.send("Performance.getMetrics")).metrics.find(
      (m) => m.name === "TaskDuration",
    ).value;
    const chart = await page.evaluate(() =>
      document.querySelector("[data-ready]")
        ? "yes"
        : window.Chart && document.querySelector("#canvas")
          ? "NO"
          : "",
    );
    await cdp.send("HeapProfiler.enable");
    await cdp.send("HeapProfiler.collectGarbage");
    await cdp.send("HeapProfiler.collectGarbage");
    const heap = (await cdp.send("Performance.getMetrics")).metrics.find(
      (m) => m.name === "JSHeapUsedSize",
    ).value;
    const data = files.reduce(
      (n, f) =>
        n + gzipSync(readFileSync(decodeURIComponent(new URL(f).pathname)), { level: 9 }).length,
      0,
    );
    return { cpu: cpu * 1e3, heap: heap / 1e6, data: data / 1e3, chart };
  } finally {
    await context.close();
    rmSync(profile, { recursive: true, force: true });
  }
}

const of = (aim) => (isFinite(aim) ? `of ${String(aim).padStart(3)}` : "").padStart(6);
console.log(
  `${"PAGE".padEnd(60)} ${"MAIN THREAD".padStart(16)} ${"HEAP".padStart(9)} ${"DATA, GZIP".padStart(16)} ${"HTML, GZIP".padStart(11)} CHART`,
);
for (const { file, ms, kb } of named.length ? named.map(parse) : everyKind()) {
  const results = [];
  for (let i = 0; i < runs; i++) results.push(await load(`file://${join(resolve(site), file)}`));
  const cpu = median(results.map((r) => r.cpu)),
    heap = median(results.map((r) => r.heap)),
    { data, chart } = results[0],
    html = gzipSync(readFileSync(join(site, file)), { level: 9 }).length / 1e3;
  const bad = cpu > ms || data > kb || heap > 10 || chart === "NO";
  over += bad;
  console.log(
    `${file.slice(-60).padEnd(60)} ${cpu.toFixed(0).padStart(6)} ms ${of(ms)} ${heap.toFixed(1).padStart(6)} MB ${data.toFixed(1).padStart(6)} kB ${of(kb)} ${html.toFixed(1).padStart(8)} kB ${chart.padEnd(5)}${bad ? " OVER" : ""}`,
  );
}
process.exit(over ? 1 : 0);
