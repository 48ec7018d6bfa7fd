// Checks that two sites of one history agree: same.mjs A B. A was updated night by night, B was
// rebuilt. Files are equal, except for pages of series (they may show an earlier night), badges
// (they may differ by 1 %), the distribution of points over data files, and the state.
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import vm from "node:vm";

const [a, b] = process.argv.slice(2);
const problems = [];
// Pages of finished nights are not rewritten when revisions gain or lose pages.
const plain = (file, text) =>
  file.startsWith("nights/")
    ? text.replace(/<a href="\.\.\/revisions\/[^"]*">([^<]*)<\/a>/g, "$1")
    : text;
const read = (site, file) => readFileSync(join(site, file), "utf8");
const list = (site) =>
  readdirSync(site, { recursive: true }).filter((f) => statSync(join(site, f)).isFile());
const mayDiffer = (f) =>
  /^(series\/.*\.html|badges\/.*\.svg|data\/[0-9a-f]{3,}\.(recent|hot|\d{4})\.js|site-state\.(json|bin|totals\.bin))$/.test(
    f,
  );
const mayStay = (f) => /^(nights|revisions)\//.test(f);

const inA = new Set(list(a)),
  inB = new Set(list(b));
for (const f of inB) {
  if (!inA.has(f)) {
    if (!/^data\/[0-9a-f]{3,}\.\d{4}\.js$/.test(f)) problems.push(`${f} is only in ${b}`);
  } else if (!mayDiffer(f) && plain(f, read(a, f)) !== plain(f, read(b, f)))
    problems.push(`${f} differs`);
}
for (const f of inA)
  if (!inB.has(f) && !mayStay(f) && !/^data\/[0-9a-f]{3,}\.\d{4}\.js$/.test(f))
    problems.push(`${f} is only in ${a}`);

// The points of every series, decoded by the script that the pages use.
function load(site) {
  const window = {},
    document = { documentElement: { dataset: {} }, querySelectorAll: () => [] },
    context = vm.createContext({ window, document, addEventListener: () => {}, URLSearchParams });
  vm.runInContext(read(site, "assets/core.js"), context);
  context.tracker = window.tracker;
  vm.runInContext(read(site, "data/manifest.js") + read(site, "data/nights.js"), context);
  const manifest = window.tracker.data.get("manifest"),
    files = new Set(manifest.groups.flat().map((f) => f[1]));
  for (const f of files) vm.runInContext(read(site, f), context);
  return { data: window.tracker.data, manifest };
}
const left = load(a),
  right = load(b);
const near = (x, y) =>
  (Number.isNaN(x) && Number.isNaN(y)) || Math.abs(x - y) <= 6e-4 * Math.abs(y);
let points = 0,
  hot = 0;
for (const { id } of right.manifest.series) {
  const x = left.data.series(id),
    y = right.data.series(id);
  if (!x || !y || x.points.length !== y.points.length) {
    problems.push(`${id}: ${x?.points.length} points and ${y?.points.length}`);
    continue;
  }
  x.points.forEach((p, i) => {
    const q = y.points[i];
    points++;
    for (const key of ["time", "night", "revision", "environment", "flags"])
      if (p[key] !== q[key]) problems.push(`${id}, point ${i}: ${key} ${p[key]} and ${q[key]}`);
    if (p.run && q.run)
      for (const key of ["run", "n"])
        if (p[key] !== q[key]) problems.push(`${id}, point ${i}: ${key} ${p[key]} and ${q[key]}`);
    for (const key of ["value", "lo", "hi", "p95"])
      if (!near(p[key], q[key])) problems.push(`${id}, point ${i}: ${key} ${p[key]} and ${q[key]}`);
  });
  for (const key of ["title", "label", "unit", "ceiling", "lower_is_better"])
    if (JSON.stringify(x[key]) !== JSON.stringify(y[key])) problems.push(`${id}: ${key}`);
  // the level after a change point includes every later night, so it may be older in A
  const steps = (s) => JSON.stringify(s.changes.map((c) => [c.time, c.cause]));
  if (
    steps(x) !== steps(y) ||
    x.changes.some(
      (c, i) =>
        Math.abs(
          Math.log(c.after / c.before) - Math.log(y.changes[i].after / y.changes[i].before),
        ) > 0.02,
    )
  )
    problems.push(`${id}: change points`);
}
for (const f of inA) if (f.endsWith(".hot.js")) hot += read(a, f).split('"night"').length - 1;

// A new page names every data file of the series it can overlay.
const groupOf = new Map(right.manifest.series.map((s) => [s.id, s.group]));
let peers = 0;
for (const f of inB) {
  if (!f.startsWith("series/")) continue;
  for (const [, id, files] of read(b, f).matchAll(
    /data-series="([^"]+)"[^>]*? data-files="([^"]*)"/g,
  )) {
    const all = right.manifest.groups[groupOf.get(id)].map((g) => g[1]).join(" ");
    if (files !== all) problems.push(`${f}: files of ${id} are ${files}, not ${all}`);
    peers++;
  }
}
if (!peers) problems.push("no page of a series shows another one");

// Every file that a page names exists.
for (const f of inA) {
  if (!f.endsWith(".html")) continue;
  const root = f.includes("/") ? join(a, f, "..") : a;
  for (const m of read(a, f).matchAll(/(?:href|src)="([^"#?]+)[^"]*"/g))
    if (
      !/^[a-z]+:/i.test(m[1]) &&
      !existsSync(join(root, decodeURIComponent(m[1].replaceAll("&amp;", "&"))))
    )
      problems.push(`${f}: ${m[1]} does not exist`);
}
console.log(
  `${inB.size} files, ${points} points, ${hot} lines of nights in hot files, ${problems.length} problems`,
);
for (const p of problems.slice(0, 20)) console.error(p);
process.exit(problems.length || !points ? 1 : 0);
