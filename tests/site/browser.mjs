// The site in Chromium, opened from the disk: node browser.mjs SITE LARGE [FILE...]
// LARGE is a site with more series than fit one list. FILEs of browser/ instead of all. ONLY=WORDS
// runs the tests whose names contain WORDS.
import { runAll } from "./pages.mjs";
import { browser } from "./browser/support.mjs";

const files = [
  "pages",
  "accessibility",
  "trend",
  "axes",
  "totals",
  "kernel",
  "kernel_parts",
  "compare",
  "lists",
  "sorting",
  "overview",
  "roofline",
  "traces",
  "loading",
  "font",
];
const chosen = process.argv.slice(4);
const modules = await Promise.all(
  (chosen.length ? chosen : files).map((file) => import(`./browser/${file}.mjs`)),
);
const failed = await runAll(Object.assign({}, ...modules.map((module) => module.tests)));
await browser.close();
process.exit(failed ? 1 : 0);
