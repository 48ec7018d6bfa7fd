// The pages of the measured sample in Chromium: no violation of axe, nothing scrolls sideways, no
// error: node sample_pages.mjs SITE
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { chromium } from "playwright-core";

const SHOWN = 3; // of the pages of nights, revisions and series

const site = resolve(process.argv[2]);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const looks = [
  { colorScheme: "light", viewport: { width: 1280, height: 900 } },
  { colorScheme: "dark", viewport: { width: 390, height: 844 } },
];

function chosenPages() {
  const all = readdirSync(site, { recursive: true }).filter((file) => file.endsWith(".html"));
  const isOne = (file) =>
    /^(nights|revisions|series)\/./.test(file) && !file.endsWith("index.html");
  const some = ["nights", "revisions", "series"].flatMap((folder) => {
    const pages = all.filter((file) => isOne(file) && file.startsWith(folder)).sort();
    return pages.filter((_, i) => i % Math.ceil(pages.length / SHOWN) === 0);
  });
  return [...all.filter((file) => !isOne(file)).sort(), ...some];
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM,
  args: ["--no-sandbox", "--disable-gpu"],
});
const problems = [];
const pages = chosenPages();
const context = await browser.newContext({ bypassCSP: true });
const page = await context.newPage();
page.on("pageerror", ({ message }) => problems.push(message));

async function check(path, { colorScheme, viewport }) {
  await page.setViewportSize(viewport);
  await page.emulateMedia({ colorScheme });
  await page.waitForFunction(
    (theme) => document.documentElement.dataset.theme === theme,
    colorScheme,
  );
  const { violations } = await page.evaluate(() =>
    window.axe.run({ resultTypes: ["violations"], preload: false }),
  );
  for (const { id, nodes } of violations) problems.push(`${path} ${id}: ${nodes[0].html}`);
  const isWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
  if (isWide) problems.push(`${path} scrolls sideways at ${viewport.width} pixels`);
}

for (const path of pages) {
  await page.setViewportSize(looks[0].viewport);
  await page.emulateMedia({ colorScheme: looks[0].colorScheme });
  await page.goto(`file://${join(site, path)}`);
  await page.evaluate(axe);
  for (const look of looks) await check(path, look);
}
await browser.close();
console.log(`${pages.length} pages, ${problems.length} problems\n${problems.join("\n")}`);
process.exit(problems.length || !pages.length ? 1 : 0);
