// What pages of a site cost in a browser: CPU of the main thread until they are ready, JS heap, and the bytes of their data, compressed.
// bench_pages.mjs SITE [--runs=N] PAGE=READY_SELECTOR:MS:DATA_KB ... ; needs playwright-core (tests/site/package.json) and Chromium.
import { chromium } from 'playwright-core';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';

const args = process.argv.slice(2), runs = +(args.find(a => a.startsWith('--runs=')) ?? '--runs=3').slice(7);
const [site, ...pages] = args.filter(a => !a.startsWith('--'));
const median = list => list.sort((a, b) => a - b)[list.length >> 1];
let over = 0;

async function load(url, ready) {
  const profile = mkdtempSync(join(tmpdir(), 'bench-pages-'));
  const context = await chromium.launchPersistentContext(profile, { executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', viewport: { width: 1280, height: 900 },
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync'] });
  try {
    const page = context.pages()[0] ?? await context.newPage(), cdp = await context.newCDPSession(page), files = [];
    page.on('request', r => { if (/\/data\//.test(r.url())) files.push(r.url()); });
    await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
    await page.goto(url, { waitUntil: 'load' });
    if (ready) await page.locator(ready).first().waitFor({ state: 'attached', timeout: 30000 });
    await page.waitForTimeout(400);
    const cpu = (await cdp.send('Performance.getMetrics')).metrics.find(m => m.name === 'TaskDuration').value;
    await cdp.send('HeapProfiler.enable');
    await cdp.send('HeapProfiler.collectGarbage');
    await cdp.send('HeapProfiler.collectGarbage');
    const heap = (await cdp.send('Performance.getMetrics')).metrics.find(m => m.name === 'JSHeapUsedSize').value;
    const data = files.reduce((n, f) => n + gzipSync(readFileSync(decodeURIComponent(new URL(f).pathname)), { level: 9 }).length, 0);
    return { cpu: cpu * 1e3, heap: heap / 1e6, data: data / 1e3 };
  } finally {
    await context.close();
    rmSync(profile, { recursive: true, force: true });
  }
}

console.log(`${'PAGE'.padEnd(60)} ${'MAIN THREAD'.padStart(12)} ${'HEAP'.padStart(9)} ${'DATA, GZIP'.padStart(11)} ${'HTML, GZIP'.padStart(11)}`);
for (const spec of pages) {
  const [, file, ready, ms, kb] = /^([^=]+)=([^:]*):(\d+):(\d+)$/.exec(spec), results = [];
  for (let i = 0; i < runs; i++) results.push(await load('file://' + join(resolve(site), file), ready));
  const cpu = median(results.map(r => r.cpu)), heap = median(results.map(r => r.heap)), data = results[0].data, html = gzipSync(readFileSync(join(site, file)), { level: 9 }).length / 1e3;
  const bad = cpu > +ms || data > +kb || heap > 10;
  over += bad;
  console.log(`${file.slice(-60).padEnd(60)} ${cpu.toFixed(0).padStart(6)} of ${ms.padStart(3)} ${heap.toFixed(1).padStart(6)} MB ${data.toFixed(1).padStart(5)} of ${kb.padStart(2)} ${html.toFixed(1).padStart(11)}${bad ? '  OVER' : ''}`);
}
process.exit(over ? 1 : 0);
