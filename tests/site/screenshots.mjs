// Takes a picture of every kind of page, in light, in dark and on a phone:
// node screenshots.mjs SITE FOLDER [WORD...]; WORDs choose pages by their address.
// KINDS=light,dark,phone chooses kinds, HEIGHT=PIXELS cuts long pages.
import { mkdirSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { chromium } from "playwright-core";

const site = resolve(process.argv[2]),
  folder = resolve(process.argv[3]),
  words = process.argv.slice(4);
const kinds = {
  light: { colorScheme: "light", viewport: { width: 1280, height: 900 } },
  dark: { colorScheme: "dark", viewport: { width: 1280, height: 900 } },
  phone: {
    colorScheme: "light",
    viewport: { width: 390, height: 844 },
    deviceScaleFactor: 2,
    isMobile: true,
    hasTouch: true,
  },
};
const LIMIT = +(process.env.HEIGHT ?? 2600);

// Two pages of each folder with many pages of one kind, and all others. A page may be given with
// its "#".
function chosen() {
  const all = readdirSync(site, { recursive: true })
      .filter((f) => f.endsWith(".html"))
      .sort(),
    seen = {};
  if (words.some((w) => w.includes("#") || w.endsWith(".html"))) return words;
  if (words.length) return all.filter((f) => words.some((w) => f.includes(w)));
  return all.filter((f) => {
    const dir = f.split("/").slice(0, -1).join("/");
    if (!dir || f.endsWith("/index.html") || ["kernels", "roofline", "upstreams"].includes(dir))
      return true;
    return (seen[dir] = (seen[dir] ?? 0) + 1) <= 2;
  });
}
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});
for (const [kind, options] of Object.entries(kinds)) {
  if (process.env.KINDS && !process.env.KINDS.split(",").includes(kind)) continue;
  const context = await browser.newContext(options),
    page = await context.newPage();
  mkdirSync(join(folder, kind), { recursive: true });
  for (const path of chosen()) {
    await page.goto("about:blank");
    await page.goto(`file://${join(site, path)}`);
    await page.waitForTimeout(150);
    const height = await page.evaluate(() => document.documentElement.scrollHeight);
    await page.screenshot({
      path: join(
        folder,
        kind,
        `${path
          .replaceAll("/", "_")
          .replace(".html", "")
          .replaceAll(/[^\w.-]+/g, "_")
          .slice(0, 90)}.png`,
      ),
      fullPage: true,
      clip: { x: 0, y: 0, width: options.viewport.width, height: Math.min(height, LIMIT) },
    });
  }
  await context.close();
}
await browser.close();
