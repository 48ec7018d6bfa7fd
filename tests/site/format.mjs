// The unit formatter of the pages passes the cases of the C formatter: format.mjs FORMAT_JS CASES
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import vm from "node:vm";

const [script, cases] = process.argv.slice(2).map((file) => readFileSync(file, "utf8"));
const window = {};
vm.runInNewContext(script, { window });
const { format } = window.tracker;
const functions = {
  value: (value, unit) => format.value(Number(value), unit),
  change: (ratio) => format.change(Number(ratio)),
  half_width: (...values) => format.halfWidth(...values.map(Number)),
  percent: (ratio) => format.percent(Number(ratio)),
};
const lines = cases.split("\n").filter((line) => line && !line.startsWith("#"));
for (const line of lines) {
  const [name, ...fields] = line.split("\t");
  const expected = fields.pop().replaceAll("_", "\u00a0");
  assert.equal(functions[name](...fields), expected, line);
}
assert.ok(lines.length > 30);
console.log(`${lines.length} cases`);
