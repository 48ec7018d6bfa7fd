// Checks every file of a site without a browser: markup is well formed, links and data files exist,
// data scripts run, nothing is loaded from elsewhere and nothing of a hostile history has become
// markup. Usage: node check.mjs SITE
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import vm from "node:vm";

const site = resolve(process.argv[2]);
const problems = [];
const files = readdirSync(site, { recursive: true }).filter((f) =>
  statSync(join(site, f)).isFile(),
);
const VOID = new Set(["meta", "link", "input", "br", "img"]);

function fail(file, what) {
  problems.push(`${file}: ${what}`);
}

// Tokens of markup as strict as we write it: anything else is an error.
function tokens(file, html) {
  const out = [];
  const re =
    /<!doctype html>|<\?xml [^>]*\?>|<(\/?)([a-z][a-z0-9]*)((?:\s+[A-Za-z][A-Za-z-]*(?:="[^"<]*")?)*)\s*(\/?)>|([^<]+)/gy;
  let at = 0,
    m;
  while (at < html.length && (m = re.exec(html))) {
    at = re.lastIndex;
    if (m[2])
      out.push({
        close: !!m[1],
        name: m[2],
        selfClosed: !!m[4],
        attributes: Object.fromEntries(
          [...m[3].matchAll(/([A-Za-z][A-Za-z-]*)(?:="([^"]*)")?/g)].map((a) => [a[1], a[2] ?? ""]),
        ),
      });
  }
  if (at < html.length)
    fail(file, `no markup of ours at ${JSON.stringify(html.slice(at, at + 60))}`);
  return out;
}

function checkNesting(file, list) {
  const open = [];
  for (const t of list) {
    if (VOID.has(t.name) || t.selfClosed) continue;
    if (!t.close) open.push(t.name);
    else if (open.pop() !== t.name) return fail(file, `</${t.name}> closes nothing`);
  }
  if (open.length) fail(file, `<${open.at(-1)}> is not closed`);
}

function checkTarget(file, from, target, loaded) {
  const url = target.replaceAll("&amp;", "&");
  if (/^https?:/.test(url)) {
    if (loaded) fail(file, `loads ${url}`);
    else if (!/^https:\/\/(github\.com)\//.test(url)) fail(file, `links to ${url}`);
    return;
  }
  if (url.startsWith("#")) return;
  if (/^[a-z]+:/i.test(url) || url.startsWith("/")) return fail(file, `has the address ${url}`);
  const path = resolve(dirname(join(site, from)), decodeURIComponent(url.replace(/[?#].*/, "")));
  if (!path.startsWith(`${site}/`) || !existsSync(path)) fail(file, `${url} does not exist`);
}

function checkPage(file) {
  const html = readFileSync(join(site, file), "utf8"),
    list = tokens(file, html);
  checkNesting(file, list);
  if (
    !html.includes(
      `content="default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'none'"`,
    )
  )
    fail(file, "has no policy");
  for (const t of list.filter((t) => !t.close)) {
    const a = t.attributes;
    for (const name of Object.keys(a))
      if (/^(on|style$|srcdoc$|integrity$|crossorigin$)/i.test(name))
        fail(file, `<${t.name} ${name}>`);
    if (t.name === "script" && !a.src) fail(file, "has an inline script");
    if (["style", "iframe", "object", "base", "form"].includes(t.name))
      fail(file, `has a <${t.name}>`);
    if (a.src !== undefined) checkTarget(file, file, a.src, true);
    if (a.href !== undefined) checkTarget(file, file, a.href, t.name === "link");
    if (a["data-files"])
      for (const f of a["data-files"].split(" "))
        if (!existsSync(join(site, f))) fail(file, `${f} does not exist`);
  }
  const ids = list
    .filter((t) => !t.close && t.attributes.id !== undefined)
    .map((t) => t.attributes.id);
  if (new Set(ids).size !== ids.length) fail(file, "has an id twice");
  // eslint-disable-next-line no-control-regex
  if (/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/.test(html))
    fail(file, "has control characters");
}

function checkData(file) {
  const text = readFileSync(join(site, file), "utf8"),
    added = [];
  if (/<|\u2028|\u2029/.test(text)) fail(file, "has a character that could end a script");
  try {
    vm.runInNewContext(
      text,
      { tracker: { data: { add: (id, object) => added.push([id, object]) } } },
      { timeout: 1000 },
    );
  } catch (e) {
    return fail(file, e.message);
  }
  for (const [id, o] of added) {
    if (typeof id !== "string" || typeof o !== "object") fail(file, "adds something odd");
    if (o.value)
      for (const key of ["lo", "hi", "p95", "min", "q25", "q75", "time", "night", "run", "n"])
        if (o[key] && o[key].length !== o.value.length)
          fail(file, `${key} and value differ in length`);
    if (o.value && ![...o.value, ...o.lo, ...o.hi].every(Number.isInteger))
      fail(file, "has a value that is no integer");
  }
  return added;
}

for (const file of files) {
  if (file.endsWith(".html")) checkPage(file);
  else if (file.endsWith(".xml"))
    checkNesting(file, tokens(file, readFileSync(join(site, file), "utf8")));
  else if (file.startsWith("data/")) checkData(file);
  else if (
    file.startsWith("assets/") &&
    file.endsWith(".js") &&
    /sourceMappingURL/.test(readFileSync(join(site, file), "utf8"))
  )
    fail(file, "names a source map that is not there");
}
for (const file of files.filter((f) => f.startsWith("badges/"))) {
  const list = tokens(file, readFileSync(join(site, file), "utf8"));
  checkNesting(file, list);
  for (const t of list)
    if (!["svg", "title", "rect", "g", "text"].includes(t.name)) fail(file, `has a <${t.name}>`);
}
const api = Object.fromEntries(
  ["series", "alerts", "machines"].map((f) => [
    f,
    JSON.parse(readFileSync(join(site, `api/${f}.json`), "utf8")),
  ]),
);
for (const s of api.series.series) {
  for (const f of [s.page, s.badge])
    if (!existsSync(join(site, f))) fail("api/series.json", `${f} does not exist`);
  if (s.value !== null && !(s.lo <= s.value && s.value <= s.hi))
    fail("api/series.json", `${s.id}: ${s.value} is not in its interval`);
}
const ids = new Set(api.series.series.map((s) => s.id));
if (!api.alerts.alerts.length || !api.alerts.alerts.every((a) => a.uid && ids.has(a.series)))
  fail("api/alerts.json", "has alerts of unknown series, or none");
if (!existsSync(join(site, "badges/status.svg"))) fail("badges", "no status.svg");
const manifest = checkData("data/manifest.js")[0][1];
for (const s of manifest.series)
  for (const f of [s.page, ...manifest.groups[s.group].map((g) => g[1])])
    if (!existsSync(join(site, f))) fail("data/manifest.js", `${f} does not exist`);
// What a link to a page shows. The site of this test has an address.
const BASE = "https://example.org/kernels/";
const previews = new Set();
for (const file of files.filter((f) => f.endsWith(".html"))) {
  const html = readFileSync(join(site, file), "utf8");
  const meta = (name) =>
    [...html.matchAll(/<meta (?:property|name)="([^"]*)" content="([^"]*)">/g)]
      .filter((m) => m[1] === name)
      .map((m) => m[2]);
  for (const name of ["og:type", "og:site_name", "og:title", "og:description", "og:url"])
    if (meta(name).length !== 1 || !meta(name)[0]) fail(file, `has no ${name}, or several`);
  if (meta("og:description")[0] !== meta("description")[0])
    fail(file, "describes itself in two ways");
  if (meta("og:url")[0] !== BASE + file) fail(file, `says that it is ${meta("og:url")[0]}`);
  previews.add(meta("og:url")[0]);
}
if (previews.size !== files.filter((f) => f.endsWith(".html")).length)
  fail("index.html", "two pages have one address");
// Scripts of our own, compressed. Those of npm packages have ".min." in their names.
for (const file of files.filter((f) => f.endsWith(".html"))) {
  const html = readFileSync(join(site, file), "utf8");
  const scripts = [...html.matchAll(/<script src="(?:\.\.\/)?(assets\/\w+\.js)/g)];
  const bytes = scripts.reduce((n, m) => n + gzipSync(readFileSync(join(site, m[1]))).length, 0);
  if (bytes >= 24 * 1024) fail(file, `loads ${bytes} bytes of scripts, 24 KB are allowed`);
}
// Fonts lie beside their licence, and what a style sheet names is there.
for (const file of files.filter((f) => f.endsWith(".css")))
  for (const [, name] of readFileSync(join(site, file), "utf8").matchAll(/url\("([^"]*)"\)/g))
    if (existsSync(join(site, "assets/chart.umd.min.js"))) checkTarget(file, file, name, true);
const fonts = files.filter((f) => f.endsWith(".woff2"));
const fontBytes = fonts.reduce((n, f) => n + statSync(join(site, f)).size, 0);
if (fontBytes > 50 * 1024) fail("assets", `fonts of ${fontBytes} bytes, 50 KB are allowed`);
const licences = files.filter((f) => /^assets\/licence-.*\.txt$/.test(f));
if (fonts.length && !licences.some((f) => /OPEN FONT LICENSE/.test(readFileSync(join(site, f)))))
  fail(fonts[0], "has no licence beside it");
if (ids.size !== manifest.series.length)
  fail("api/series.json", "has other series than the manifest");
const secret = files.filter(
  (f) =>
    /\.(html|js|xml|json)$/.test(f) && readFileSync(join(site, f), "utf8").includes("user:secret"),
);
if (secret.length) fail(secret[0], "shows a password");

console.log(
  `${files.length} files, ${manifest.series.length} series, ${problems.length} problems in ${relative(".", site) || "."}`,
);
for (const p of problems.slice(0, 40)) console.error(p);
process.exit(problems.length ? 1 : 0);
