// Runs html-validate over every kind of page: node html.mjs SITE LARGE
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { FileSystemConfigLoader, HtmlValidate } from "html-validate";
import { largeKinds, pages } from "./pages.mjs";

const rules = {
  "doctype-style": ["error", { style: "lowercase" }],
  "prefer-native-element": ["error", { exclude: ["region"] }], // scrolling boxes
  "valid-id": ["error", { relaxed: true }], // ids of alerts begin with a digit
  "long-title": "off",
  "no-trailing-whitespace": "off", // names come from users
};
const validate = new HtmlValidate(
  new FileSystemConfigLoader({ root: true, extends: ["html-validate:recommended"], rules }),
);
const [site, large] = process.argv.slice(2).map((p) => resolve(p));
const list = pages(site)
  .map((p) => [site, p])
  .concat(largeKinds(large).map((p) => [large, p]));
let problems = 0;
for (const [folder, page] of list) {
  const report = await validate.validateString(readFileSync(join(folder, page), "utf8"), page);
  for (const m of report.results.flatMap((r) => r.messages)) {
    problems++;
    if (problems <= 40) console.error(`${page}:${m.line}:${m.column}: ${m.message} (${m.ruleId})`);
  }
}
console.log(`${list.length} pages, ${problems} problems`);
process.exit(problems || !list.length ? 1 : 0);
