// What the browser tests share: the sites, the browser, and how a page is opened. A test fails on
// any console message, page error, dialog, or request that leaves the site.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { chromium } from "playwright-core";
import { SERIES, largeKinds, pages } from "../pages.mjs";

export { SERIES, largeKinds, pages };
export const site = resolve(process.argv[2]),
  large = resolve(process.argv[3]);
export const axe = readFileSync(
  createRequire(import.meta.url).resolve("axe-core/axe.min.js"),
  "utf8",
);
const args = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-features=OptimizationGuideOnDeviceModel,OptimizationGuideModelDownloading",
];
// the newest
export const NIGHT = readFileSync(join(site, SERIES), "utf8").match(/data-time="(\d+)"/)[1];
export const PEER = "epyc-lab.cpu.blis.gemm-f32-1024x1024x1024-nn.cold";
export const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args });

export async function open({ allowed, ...options }) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    acceptDownloads: true,
    ...options,
  });
  const page = await context.newPage();
  page.errors = [];
  page.on("console", (m) => {
    if (["error", "warning"].includes(m.type())) page.errors.push(m.text());
  });
  page.on("pageerror", (e) => page.errors.push(e.message));
  page.on("dialog", (d) => {
    page.errors.push(`dialog: ${d.message()}`);
    d.dismiss();
  });
  page.on("request", (r) => {
    if (!/^(file|data|blob|about):/.test(r.url()) && !(allowed && r.url().startsWith(allowed)))
      page.errors.push(`request: ${r.url()}`);
  });
  // the icon is loaded late, and given up where a test has gone on by then
  page.on("requestfailed", (r) => {
    if (!r.url().endsWith("icon.svg")) page.errors.push(`failed: ${r.url()}`);
  });
  return { context, page };
}
export async function visit(page, path, root = site) {
  await page.goto("about:blank");
  await page.goto(`file://${root}/${path}`);
  assert.deepEqual(page.errors, [], path);
}
// One of each kind, and the pages of the hostile names.
export function samples() {
  const all = pages(site),
    hostile = all.filter((f) => /script|onmouseover/.test(f));
  return [
    "index.html",
    "lists/index.html",
    "environment.html",
    "upstreams/index.html",
    "upstreams/openblas.html",
    SERIES,
    "kernels/gemm.html",
    "kernels/attention.html",
    "kernels/attention.html#metric=energy&of=flash-attention",
    "compare.html",
    `${SERIES}#night=${NIGHT}`,
    "alerts.html",
    "method.html",
    "nights/index.html",
    "machines/index.html",
    "machines/epyc-lab.html",
    "roofline/epyc-lab.cpu.html",
    all.filter((f) => /^nights\/\d.*epyc/.test(f)).at(-1),
    all.filter((f) => /^revisions\/openblas-/.test(f)).at(-1),
    "tunings/index.html",
    all.find((f) => /^tunings\/.*cutlass/.test(f)),
    ...hostile,
  ];
}
