// The site in a real browser, from the disk: no errors, no request leaves it, charts draw, filter, address, theme and keyboard work, axe-core
// finds nothing in light, dark and on a phone, and without JavaScript the tables stand. Usage: node browser.mjs SITE LARGE, a site of more series
// than one list has
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { extname, join, resolve } from 'node:path';
import { chromium } from 'playwright-core';
import { SERIES, largeKinds, pages, runAll } from './pages.mjs';

const site = resolve(process.argv[2]), large = resolve(process.argv[3]), axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
const NIGHT = readFileSync(join(site, SERIES), 'utf8').match(/data-time="(\d+)"/)[1]; // the newest
const PEER = 'epyc-lab.cpu.blis.gemm-f32-1024x1024x1024-nn.cold';
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args });

async function open({ allowed, ...options }) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.errors = [];
  page.on('console', m => { if (['error', 'warning'].includes(m.type())) page.errors.push(m.text()); });
  page.on('pageerror', e => page.errors.push(e.message));
  page.on('dialog', d => { page.errors.push(`dialog: ${d.message()}`); d.dismiss(); });
  page.on('request', r => { if (!/^(file|data|blob|about):/.test(r.url()) && !(allowed && r.url().startsWith(allowed))) page.errors.push(`request: ${r.url()}`); });
  // the icon is loaded late, and given up where a test has gone on by then
  page.on('requestfailed', r => { if (!r.url().endsWith('icon.svg')) page.errors.push(`failed: ${r.url()}`); });
  return { context, page };
}
async function visit(page, path, root = site) {
  await page.goto('about:blank');
  await page.goto(`file://${root}/${path}`);
  assert.deepEqual(page.errors, [], path);
}
// One of each kind, and the pages of the hostile names.
function samples() {
  const all = pages(site), hostile = all.filter(f => /script|onmouseover/.test(f));
  return ['index.html', 'lists/index.html', 'environment.html', 'upstreams/index.html', 'upstreams/openblas.html', SERIES, 'kernels/gemm.html', 'kernels/attention.html', 'kernels/attention.html#metric=energy&of=flash-attention', 'compare.html', SERIES + `#night=${NIGHT}`, 'alerts.html', 'method.html', 'nights/index.html', 'machines/index.html', 'machines/epyc-lab.html', 'roofline/epyc-lab.cpu.html',
    all.filter(f => /^nights\/\d.*epyc/.test(f)).at(-1), all.filter(f => /^revisions\/openblas-/.test(f)).at(-1), ...hostile];
}

const tests = {
  async 'every page loads from the disk without an error or a request'() {
    const { context, page } = await open({});
    for (const path of pages(site)) {
      await visit(page, path);
      const state = await page.evaluate(() => ({ wide: document.documentElement.scrollWidth > innerWidth, h1: document.querySelectorAll('h1').length, chart: document.getElementById('chart')?.dataset.ready, canvas: !!document.querySelector('#canvas') }));
      assert.equal(state.h1, 1, `${path}: one h1`);
      assert.ok(!state.wide, `${path}: scrolls sideways`);
      assert.ok(!state.canvas || state.chart, `${path}: its chart was not drawn`);
    }
    await context.close();
  },
  async 'the trend is drawn, in pixels'() {
    const { context, page } = await open({});
    await visit(page, SERIES);
    const painted = await page.evaluate(() => { const c = document.getElementById('canvas'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; let n = 0; for (let i = 3; i < d.length; i += 4) n += d[i] > 0; return n / (d.length / 4); });
    assert.ok(painted > 0.01, `only ${painted} of the canvas is painted`);
    const points = await page.evaluate(() => Chart.getChart('canvas').data.datasets[0].data.length);
    assert.equal(points, 100);
    const rows = await page.evaluate(() => { const p = Chart.getChart('canvas').data.datasets[0].data.at(-1); return [p.y.toFixed(1), document.querySelector('table.nights tbody td').textContent]; });
    assert.equal(rows[0], rows[1], 'the newest point of the chart and of the table');
    await context.close();
  },
  async 'range, mode, overlay and night are in the address and come back from it'() {
    const { context, page } = await open({});
    await visit(page, SERIES);
    await page.click('[data-range="30"]');
    await page.click('[data-mode="pct"]');
    await page.click('#peers li button');
    await page.waitForFunction(() => document.getElementById('chart').dataset.ready === '2 pct');
    assert.equal(await page.getAttribute('[data-mode="pct"]', 'aria-pressed'), 'true');
    await page.focus('#canvas');
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowLeft');
    const picked = await page.textContent('#picked'), hash = await page.evaluate(() => location.hash);
    assert.match(picked, /Night of 2026-11-19 01:\d\d.*Median.*µs.* to the night before.*Interval.*Quartiles.*Commit[0-9a-f]{12}/);
    assert.match(hash, /range=30/);
    await visit(page, SERIES + hash);
    await page.waitForFunction(() => document.getElementById('chart').dataset.ready === '2 pct');
    assert.equal(await page.textContent('#picked'), picked);
    const span = await page.evaluate(() => { const x = Chart.getChart('canvas').scales.x; return x.max - x.min; });
    assert.ok(span > 29 && span < 32, `30 days are ${span}`);
    await page.focus('#canvas');
    await page.keyboard.press('Escape');
    assert.ok(!(await page.evaluate(() => location.hash)).includes('range'));
    assert.ok(await page.isHidden('#picked'));
    assert.ok(hash.includes(encodeURIComponent(PEER)) || hash.includes('with='));
    await context.close();
  },
  async 'a picked night links to the commits since the one before'() {
    const { context, page } = await open({});
    await visit(page, SERIES);
    await page.focus('#canvas');
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowLeft');
    let found = [];
    for (let i = 0; i < 4; i++, await page.keyboard.press('ArrowLeft'))
      found.push(await page.evaluate(() => document.querySelector('#picked a[href*="compare"]')?.href ?? ''));
    const links = found.filter(Boolean);
    assert.ok(links.length > 0 && links.length < 4, `a new commit every third night: ${found}`);
    for (const link of links) assert.match(link, /^https:\/\/github\.com\/OpenMathLib\/OpenBLAS\/compare\/[0-9a-f]{40}\.\.\.[0-9a-f]{40}$/);
    await context.close();
  },
  async 'a pinned night shows its samples beside those of the night before, its run, and may be the baseline'() {
    const { context, page } = await open({});
    await visit(page, SERIES);
    await page.focus('#canvas');
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowLeft');
    assert.equal(await page.getAttribute('#picked', 'data-samples'), '2');
    const sets = await page.evaluate(() => Chart.getChart(document.querySelector('.ecdf canvas')).data.datasets.map(s => [s.data.length, s.data.at(-1).y]));
    assert.deepEqual(sets, [[41, 100], [41, 100]]);
    assert.match(await page.textContent('#picked'), /tracker show \d+/);
    assert.ok(await page.getAttribute('#picked a[href*="nights/"]', 'href'));
    assert.ok(await page.getAttribute('#picked a[href*="revisions/"]', 'href'));
    await page.click('#picked button:text("Use as baseline")');
    const last = await page.evaluate(() => Chart.getChart('canvas').data.datasets[0].data.at(-1).y);
    assert.ok(last > 8.5 && last < 10.5, `${last} % of the night before`);
    assert.match(await page.evaluate(() => location.hash), /mode=base/);
    await page.click('#picked button:text("Earlier")');
    assert.match(await page.textContent('#picked h3'), /2026-11-18/);
    await page.click('#picked button:text("Close")');
    assert.ok(await page.isHidden('#picked'));
    await context.close();
  },
  async 'log axis, share of the roof, other quantities and hidden lines are in the address'() {
    const { context, page } = await open({});
    await visit(page, SERIES);
    await page.click('[data-mode="roof"]');
    const share = await page.evaluate(() => Chart.getChart('canvas').data.datasets[0].data.at(-1).y);
    assert.ok(share > 70 && share < 80, `${share} % of the roof`); // 2.147 GFLOP in 978 us of 2900 GFLOP/s
    await page.click('#log');
    assert.equal(await page.evaluate(() => Chart.getChart('canvas').scales.y.type), 'logarithmic');
    await page.click('[data-mode="abs"]');
    const median = await page.evaluate(() => Chart.getChart('canvas').data.datasets[0].data.at(-1).y);
    await page.selectOption('#show', 'p95');
    const p95 = await page.evaluate(() => Chart.getChart('canvas').data.datasets[0].data.at(-1).y);
    assert.ok(Math.abs(p95 / median - 1.02) < 0.001);
    await page.click('#peers li button');
    await page.evaluate(() => { const c = Chart.getChart('canvas'); c.options.plugins.legend.onClick({}, c.legend.legendItems[0]); });
    const hash = await page.evaluate(() => location.hash);
    for (const part of ['axis=log', 'show=p95', 'hide=']) assert.ok(hash.includes(part), `${hash} has no ${part}`);
    await visit(page, SERIES + hash);
    const state = await page.evaluate(() => { const c = Chart.getChart('canvas'); return [c.scales.y.type, c.isDatasetVisible(0), c.isDatasetVisible(1), document.getElementById('show').value]; });
    assert.deepEqual(state, ['logarithmic', false, true, 'p95']);
    await context.close();
  },
  async 'the rows of the table and the points of the chart are linked'() {
    const { context, page } = await open({});
    await visit(page, SERIES);
    await page.hover('table.nights tbody tr:nth-child(3)');
    const active = await page.evaluate(() => Chart.getChart('canvas').getActiveElements().map(a => a.index));
    assert.deepEqual(active, [97]);
    const box = await page.locator('#canvas').boundingBox();
    await page.locator('#canvas').hover({ position: { x: box.width - 20, y: 200 } });
    await page.waitForSelector('table.nights tr.linked');
    await context.close();
  },
  async 'dragging zooms'() {
    const { context, page } = await open({});
    await visit(page, SERIES);
    const box = await page.locator('#canvas').boundingBox();
    await page.mouse.move(box.x + 300, box.y + 100);
    await page.mouse.down();
    await page.mouse.move(box.x + 600, box.y + 140, { steps: 5 });
    await page.mouse.up();
    await page.waitForTimeout(100);
    assert.match(await page.evaluate(() => location.hash), /range=2026-\d\d-\d\d\.\.2026-\d\d-\d\d/);
    assert.deepEqual(page.errors, []);
    await context.close();
  },
  async 'CSV has every point'() {
    const { context, page } = await open({});
    await visit(page, SERIES);
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('#csv')]);
    const lines = readFileSync(await download.path(), 'utf8').trim().split('\n');
    assert.equal(lines.length, 101);
    assert.equal(lines[0], 'time,value,lo,hi,unit,revision,subject');
    assert.match(lines[100], /^2026-11-20T01:\d\d:\d\dZ,97\d+(\.\d+)?,\d+(\.\d+)?,\d+(\.\d+)?,ns,[0-9a-f]{40},/);
    await context.close();
  },
  async 'backends of one name are told apart, modes and controls are not ranked together'() {
    const { context, page } = await open({});
    await visit(page, 'kernels/gemm.html');
    const tables = await page.evaluate(() => [...document.querySelectorAll('main section')].map(s => ({ name: s.querySelector('h2').textContent.trim(),
      heads: [...s.querySelectorAll('thead th.num')].map(th => th.textContent), best: [...s.querySelectorAll('tbody tr')].map(tr => tr.querySelectorAll('td.best').length) })));
    const cpu = tables.filter(t => t.name.startsWith('epyc-lab')), gpu = tables.filter(t => t.name.startsWith('h200'));
    assert.deepEqual(cpu.map(t => t.heads), [['blis', 'cpu', 'openblas (openblas)', 'openblas (openblas-debian)'], ['openblas (openblas)']]);
    assert.match(cpu[1].name, /· hot/);
    assert.ok(cpu[0].best.every(n => n === 1), `one best in each row: ${cpu[0].best}`);
    assert.equal(gpu.length, 2);
    assert.match(gpu[1].name, /· sustained/);
    assert.ok(!gpu[0].name.includes('paced'), 'the usual mode is not named');
    await visit(page, SERIES);
    const peers = await page.evaluate(() => [...document.querySelectorAll('#peers li')].map(li => li.querySelector('a').textContent));
    assert.deepEqual(peers, ['blis', 'cpu', 'openblas (openblas-debian)']);
    await visit(page, 'roofline/h200-node-1.h200-0.html');
    assert.ok(!(await page.textContent('table.shares')).includes('sustained'));
    await visit(page, 'roofline/epyc-lab.cpu.html');
    const labels = await page.evaluate(() => [...new Set([...document.querySelectorAll('table.shares tbody th .sub')].map(e => e.textContent.split(' · ')[0]))].sort());
    assert.deepEqual(labels, ['blis', 'cpu', 'openblas (openblas)', 'openblas (openblas-debian)']);
    await context.close();
  },
  async 'any two are compared, and the address keeps which'() {
    const { context, page } = await open({});
    const text = () => page.textContent('#verdict'), rows = () => page.evaluate(() => +document.getElementById('compare').dataset.ready);
    await visit(page, 'compare.html');
    assert.ok(await rows() > 0, 'the first pair has something in common');
    await page.selectOption('#a', 'openblas (openblas) @ epyc-lab/cpu');
    await page.selectOption('#b', 'openblas (openblas-debian) @ epyc-lab/cpu');
    assert.equal(await rows(), 4);
    assert.match(await text(), /^openblas \(openblas-debian\) takes 1\.1\d× the time of openblas \(openblas\) \(geometric mean of 4 problems\)\. openblas \(openblas\) is faster in 4, openblas \(openblas-debian\) in 0\.$/);
    await page.click('#swap');
    assert.match(await text(), /takes 0\.8\d× .* faster in 0, openblas \(openblas\) in 4\.$/);
    await page.selectOption('#b', 'openblas (openblas-debian) @ epyc-lab/cpu');
    await page.selectOption('#a', 'openblas (openblas) @ epyc-lab/cpu');
    await page.selectOption('#b', 'openblas (openblas) @ epyc-lab/cpu');
    await page.selectOption('#a-age', '1');
    await page.selectOption('#op', 'GEMM');
    const line = await page.evaluate(() => [...document.querySelectorAll('#rows tr')].map(tr => tr.textContent).find(t => t.includes('1024x1024x1024')));
    assert.match(line, /1\.(09|1\d)×/, 'the regression of last night, seen against a week before');
    const hash = await page.evaluate(() => location.hash), before = await text();
    await visit(page, 'compare.html' + hash);
    assert.equal(await text(), before);
    await page.selectOption('#b', 'cublas @ h200-node-1/h200-0');
    assert.match(await text(), /no problem in common/);
    // two revisions of one backend, then two nights
    await page.selectOption('#b', 'openblas (openblas) @ epyc-lab/cpu');
    await page.selectOption('#a-age', 'rev');
    await page.waitForFunction(() => document.getElementById('a-at').options.length === 34);
    const revisions = await page.evaluate(() => [...document.getElementById('a-at').options].map(o => o.value));
    await page.selectOption('#a-at', revisions[1]);
    await page.waitForFunction(rev => document.getElementById('verdict').textContent.includes(rev), revisions[1].slice(0, 12));
    const moved = () => page.evaluate(() => [...document.querySelectorAll('#rows tr')].map(tr => tr.textContent).find(t => t.includes('1024x1024x1024')));
    assert.match(await moved(), /1\.(09|10)×/, 'the newest night against the revision before');
    await page.selectOption('#a-age', 'night');
    await page.selectOption('#a-at', '2026-11-10');
    await page.selectOption('#b-age', 'night');
    await page.selectOption('#b-at', '2026-10-20');
    await page.waitForFunction(() => document.getElementById('verdict').textContent.includes('2026-10-20'));
    assert.match(await moved(), /1\.0[67]×/, 'before and after the change of the environment');
    const nights = await page.evaluate(() => location.hash), said = await text();
    await visit(page, 'compare.html' + nights);
    await page.waitForFunction(said => document.getElementById('verdict').textContent === said, said);
    assert.deepEqual(page.errors, []);
    await context.close();
  },
  async 'a mean of unstable timings is called a guess'() {
    const { context, page } = await open({});
    await page.route(/data\/compare-\d+\.js/, route => { // as of a night whose every timing was unstable
      const whole = readFileSync(decodeURIComponent(new URL(route.request().url()).pathname), 'utf8');
      route.fulfill({ contentType: 'text/javascript', body: whole.replace(/(,-?\d+,)\[(\d+,\d+,\d+)\]/g, '$1[$2,1]') });
    });
    await visit(page, 'compare.html');
    await page.selectOption('#a', 'openblas (openblas) @ epyc-lab/cpu');
    await page.selectOption('#b', 'openblas (openblas-debian) @ epyc-lab/cpu');
    await page.waitForFunction(() => document.getElementById('compare').dataset.ready === '4');
    assert.match(await page.textContent('#verdict'), /in 0\. The timings of 4 of 4 have an interval wider than asked: the mean is a guess\.$/);
    await page.selectOption('#a-age', '1'); // a week before is not known to be
    await page.selectOption('#b-age', '1');
    assert.doesNotMatch(await page.textContent('#verdict'), /a guess/);
    assert.deepEqual(page.errors, []);
    await context.close();
  },
  async 'the filters hide rows, "/" goes to them, and the address keeps them'() {
    const { context, page } = await open({});
    const shown = () => page.evaluate(() => [...document.querySelectorAll('.group tbody tr')].filter(r => !r.closest('[hidden]')).length);
    await visit(page, 'lists/index.html');
    const all = await shown();
    await page.keyboard.press('/');
    await page.keyboard.type('openblas regressed');
    assert.equal(await shown(), 2);
    assert.equal(await page.textContent('#filter-count'), `2 of ${all}`);
    await visit(page, 'lists/index.html' + await page.evaluate(() => location.hash));
    assert.equal(await shown(), 2);
    await page.focus('#filter');
    await page.keyboard.press('Escape');
    assert.equal(await shown(), all);
    await page.selectOption('#choose-op', 'Attention');
    await page.selectOption('#choose-device', 'epyc-lab/cpu');
    assert.equal(await shown(), 6);
    await page.selectOption('#choose-backend', 'cpu');
    assert.equal(await shown(), 3);
    await visit(page, 'lists/index.html' + await page.evaluate(() => location.hash));
    assert.equal(await shown(), 3);
    await page.selectOption('#choose-op', '');
    await page.selectOption('#choose-status', 'improved');
    assert.equal(await shown(), 1);
    await page.selectOption('#choose-status', '');
    await page.selectOption('#choose-backend', '');
    await page.selectOption('#choose-type', 'f16');
    assert.equal(await shown(), 0, 'no f16 on the CPU');
    await context.close();
  },
  async 'the matrix of the overview leads to the list, already filtered'() {
    const { context, page } = await open({});
    await visit(page, 'index.html');
    assert.equal(await page.locator('.group').count(), 0, 'the overview lists no series');
    await page.locator('table.matrix tbody tr', { hasText: 'h200-node-1' }).locator('td a').first().click();
    await page.waitForURL(/lists\/index\.html/);
    assert.equal(await page.textContent('#filter-count'), '14 of 66');
    await context.close();
  },
  async 'a kernel page has a map of who is best where, and the rate over the size'() {
    const { context, page } = await open({});
    await visit(page, 'kernels/attention.html');
    const map = await page.evaluate(() => { const t = document.querySelector('table.map'); return { head: [...t.querySelectorAll('thead th')].map(e => e.textContent.trim()),
      rows: [...t.querySelectorAll('tbody tr')].map(tr => [...tr.children].map(e => e.textContent.trim())), caption: t.caption.textContent }; });
    assert.deepEqual(map.head, ['Sequence \\ Batch', '1', '2', '4']);
    assert.equal(map.rows.length, 3);
    assert.match(map.rows[0][1], /^cutlass · 128x256x64 1\.\d\d×$/, 'short ones: the smaller fixed cost wins');
    assert.match(map.rows[2][3], /^flash-attention 1\.\d\d×$/);
    assert.match(map.caption, /d=128/);
    for (const c of await page.locator('.scaling .small-canvas').all()) await c.scrollIntoViewIfNeeded(); // drawn when they come into view
    await page.waitForFunction(() => [...document.querySelectorAll('.scaling canvas')].every(c => Chart.getChart(c)));
    const charts = await page.evaluate(() => [...document.querySelectorAll('.scaling canvas')].map(c => Chart.getChart(c).data.datasets.map(d => [d.label, d.data.length])));
    assert.deepEqual(charts, [[['cpu', 3], ['openblas (openblas)', 3]], [['cutlass · 128x256x64', 3], ['flash-attention', 3]]]);
    assert.deepEqual(page.errors, []);
    await context.close();
  },
  async 'a kernel page ranks by what else a run takes, and its map is the speed-up of one backend over another'() {
    const { context, page } = await open({});
    const table = () => page.evaluate(() => [...document.querySelector('table.compare').rows].map(tr => [...tr.cells].map(td => td.textContent.replace(/\s+/g, ' ').trim())));
    await visit(page, 'kernels/attention.html');
    const before = await table();
    assert.deepEqual(await page.evaluate(() => [...document.getElementById('metric').options].map(o => o.value)), ['', 'p95', 'energy', 'workspace', 'memory', 'launch', 'build']);
    await page.selectOption('#metric', 'energy');
    const after = await table();
    assert.match(after[1][1], /^\d+(\.\d+)? [mµ]?J best$/);
    assert.match(after[1][2], /^\d+(\.\d+)? [mµ]?J \d\.\d\d×$/);
    assert.match(after.at(-2)[0], /^Energy of one run relative to the best/);
    assert.equal(await page.evaluate(() => Chart.getChart(document.querySelector('.scaling canvas')).options.scales.y.title.text), 'Energy of one run');
    await page.selectOption('#metric', 'build');
    assert.match((await table())[1][1], /^34\.5 s best$/);
    assert.match(await page.evaluate(() => location.hash), /metric=build/);
    await page.selectOption('#metric', '');
    assert.deepEqual(await table(), before);
    const map = () => page.evaluate(() => [...document.querySelectorAll('table.map tbody tr')].map(tr => [...tr.cells].slice(1).map(td => [td.textContent.replace(/\s+/g, ' ').trim(), td.className])));
    const best = await map();
    await page.selectOption('.map-tools select:first-of-type', 'flash-attention');
    const of = await map();
    assert.match(of[0][0][0], /^0\.8\d× slower$/);
    assert.match(of[2][2][0], /^1\.3\d× faster$/);
    assert.match(of[2][2][1], /^map-0-[23]$/);
    await page.selectOption('.map-tools select:last-of-type', 'cutlass · 128x256x64');
    assert.deepEqual(await map(), of, 'there are two');
    const hash = await page.evaluate(() => location.hash);
    await visit(page, 'kernels/attention.html' + hash);
    assert.deepEqual(await map(), of);
    assert.match(await page.textContent('.map-note'), /How many times as fast flash-attention is as cutlass/);
    await page.selectOption('.map-tools select:first-of-type', '');
    assert.deepEqual(await map(), best);
    await context.close();
  },
  async '"?" lists the keys of a page'() {
    const { context, page } = await open({});
    await visit(page, 'lists/index.html');
    await page.keyboard.press('?');
    assert.ok(await page.isVisible('dialog.keys'));
    assert.match(await page.textContent('dialog.keys'), /\/go to the filter/);
    await page.evaluate(axe);
    assert.deepEqual((await page.evaluate(() => window.axe.run('dialog.keys'))).violations, []);
    await page.keyboard.press('Escape');
    assert.ok(await page.isHidden('dialog.keys'));
    await page.focus('#filter');
    await page.keyboard.type('?');
    assert.ok(await page.isHidden('dialog.keys'), 'a question mark that is typed is one');
    await context.close();
  },
  async 'a commit has a page with what it moved, an environment its steps, and what is not supported is not listed'() {
    const { context, page } = await open({});
    await visit(page, 'index.html');
    await page.locator('.moved a:text("what else it moved")').first().click();
    await page.waitForURL(/revisions\/openblas-/);
    const told = await page.evaluate(() => [...document.querySelectorAll('table.verdicts tbody tr')].map(tr => tr.textContent));
    assert.equal(told.length, 2);
    assert.match(told.join(), /1024x1024x1024.*regressed.*2048x2048x2048.*regressed/s);
    await visit(page, 'upstreams/index.html');
    await page.click('table a:text-is("openblas")');
    await page.waitForURL(/upstreams\/openblas/);
    await page.locator('tbody tr', { has: page.locator('.text-bad') }).first().locator('.rev a').click();
    await page.waitForURL(/revisions\/openblas-/);
    const row = await page.textContent('table.moves tbody tr');
    assert.match(row, /attention f32 B1 H16 S8192.*\+[45]\.\d.*slower/);
    assert.match(await page.getAttribute('.title a[href*="compare"]', 'href'), /^https:\/\/github\.com\/OpenMathLib\/OpenBLAS\/compare\//);
    const functions = await page.evaluate(() => [...document.querySelectorAll('table.functions tbody tr')].map(tr => [...tr.children].map(e => e.textContent.trim())));
    if (functions.length) assert.match(functions[0].join(' | '), /openblas \| (changed|new|gone|same code)/);
    await visit(page, SERIES);
    const facts = await page.evaluate(() => Object.fromEntries([...document.querySelectorAll('aside dt')].map(dt => [dt.textContent, dt.nextElementSibling.textContent])));
    assert.deepEqual([facts.Function, facts.Algorithm, facts.Workspace, facts.Energy], ['gemm_kernel', 'tile 128x256', '1.049\u00a0MB', '633.5\u00a0mJ']);
    assert.ok([128, 136, 144].includes(+facts.Registers));
    const code = await page.evaluate(() => [...document.querySelectorAll('aside .plain-list li .sub')].map(e => e.textContent));
    assert.deepEqual([...new Set(code)].sort(), ['changed', 'same code']);
    await visit(page, 'environment.html');
    const change = await page.textContent('.timeline li');
    assert.match(change, /2026-11-06.*31 better.*governor powersave → performance/s);
    for (const path of ['kernels/attention.html', 'lists/index.html']) {
      await visit(page, path);
      const gpu = await page.evaluate(() => [...document.querySelectorAll('main section, .group')].map(s => s.textContent).filter(t => t.includes('S4096')).join());
      assert.ok(gpu.includes('cutlass'));
      assert.ok(!gpu.includes('unsupported'), path);
    }
    await context.close();
  },
  async 'what was not measured for one reason is one line of the overview, and what moved says since when, whose fault and how far from the roof'() {
    const { context, page } = await open({});
    await visit(page, 'index.html');
    const cards = await page.evaluate(() => [...document.querySelectorAll('.moved li')].map(li => li.innerText.replace(/\s+/g, ' ')));
    const missing = cards.filter(c => c.includes('missing'));
    assert.equal(missing.length, 1, cards.join('\n'));
    assert.match(missing[0], /^6 series: missing h200-node-1\/h200-0 skipped: the night's budget \(budgets\.night\) was spent for example gemm bf16/);
    assert.match(cards[0], /gemm f32 1024x1024x1024 nn.*\+9\.\d %.* % of the roof .*new last night, acked.*Culprit 5eed5eed5eed Unroll the inner loop by eight sure by 99\.7 %.*confirmed \+9\.\d % \[/);
    assert.match(await page.textContent('.title p'), /\d open alerts, \d of them new, the oldest since 2026-11-\d\d/);
    assert.match(await page.textContent('table.matrix'), /6 missing.*median \d+\s% of the roof/s);
    await page.click('.moved a:text("6 series: missing")');
    await page.waitForURL(/lists\/index\.html#status=missing/);
    assert.match(await page.textContent('#filter-count'), /^6 of /);
    await visit(page, pages(site).filter(f => /^nights\/.*h200/.test(f)).at(-1));
    const night = await page.evaluate(() => [...document.querySelectorAll('tbody th')].map(th => th.textContent.replace(/\s+/g, ' ')).filter(t => t.includes('7168x2048')));
    assert.deepEqual(night.map(t => t.slice(0, 32)), ['6 series for example gemm bf16 1', '6 series for example gemm bf16 1'], 'once decided, once without a timing');
    await context.close();
  },
  async 'alerts of one commit stand together, with their state, culprit, pairs and notes, and have stable addresses'() {
    const { context, page } = await open({});
    await visit(page, 'alerts.html');
    const group = page.locator('article.alert', { hasText: '2 series of openblas' });
    const text = (await group.innerText()).replace(/\s+/g, ' ');
    assert.match(text, /2 series of openblas: \+\d\.\d % to \+9\.\d % acked by jane epyc-lab\/cpu · since 2026-11-20 .* cause: code · tracker alert show [0-9a-f]{8} Between [0-9a-f]{12} → [0-9a-f]{12}/);
    assert.match(text, /Culprit 5eed5eed5eed Unroll the inner loop by eight by Somebody Else, 2026-11-\d\d: \+9\.2 % \(\+8\.9 to \+9\.5 %\) against the commit before it, sure by 99\.7 %/);
    assert.match(text, /89\d\.\d µs → 97\d\.\d µs \+9\.\d % \+\d\.\d to \+\d\.\d % 16 pairs/);
    assert.match(text, /ack by jane, 2026-11-20 05:00: looking at it link by jane/);
    assert.equal(await group.locator('svg.pairs circle').count(), 32);
    assert.equal(await group.locator('svg.spark').count(), 2);
    assert.match(await group.locator('.rev a').first().getAttribute('href'), /^https:\/\/github\.com\/OpenMathLib\/OpenBLAS\/compare\//);
    const feed = readFileSync(join(site, 'feed.xml'), 'utf8'), ids = [...feed.matchAll(/alerts\.html#([^<]+)<\/id>/g)].map(m => m[1]);
    assert.ok(ids.length >= 3);
    for (const id of ids) assert.equal(await page.locator(`[id="${id}"]`).count(), 1, `${id} of the feed is on the page`);
    await context.close();
  },
  async 'the theme goes from system to light to dark and stays'() {
    const { context, page } = await open({ colorScheme: 'dark' });
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    await visit(page, SERIES);
    assert.equal(await theme(), 'dark');
    await page.click('#theme');
    assert.equal(await theme(), 'light');
    await visit(page, 'index.html');
    assert.equal(await theme(), 'light');
    await page.click('#theme');
    assert.equal(await theme(), 'dark');
    await context.close();
  },
  async 'every metric and mode of a series leads to the others'() {
    const { context, page } = await open({});
    await visit(page, SERIES.replaceAll('1024', '512'));
    await page.click('aside a:text-is("time, hot")');
    await page.waitForURL(/hot\.html/);
    assert.match(await page.textContent('.title p'), /lower is better · hot/);
    await page.click('aside a:text-is("launch, cold")');
    await page.waitForURL(/launch/);
    await page.waitForFunction(() => document.getElementById('chart').dataset.ready);
    assert.match(await page.textContent('.tiles'), /Median2\.\d+\sµs/);
    assert.equal(await page.locator('aside a:text-is("time, cold")').count(), 1);
    assert.deepEqual(page.errors, []);
    await context.close();
  },
  async 'a point of the roofline opens its series'() {
    const { context, page } = await open({});
    await visit(page, 'roofline/epyc-lab.cpu.html');
    const at = await page.evaluate(() => { const e = Chart.getChart('canvas').getDatasetMeta(0).data[0], b = document.getElementById('canvas').getBoundingClientRect(); return { x: b.x + e.x, y: b.y + e.y }; });
    await page.mouse.click(at.x, at.y);
    await page.waitForURL(/series\/epyc-lab/);
    await context.close();
  },
  async 'a roofline has its types and kernels to choose, trails of the nights before, and every backend a look of its own'() {
    const { context, page } = await open({});
    const seen = () => page.evaluate(() => { const c = Chart.getChart('canvas'), sets = c.data.datasets; return {
      points: sets.filter(s => !s.roof).reduce((n, s) => n + s.data.length, 0), roofs: sets.filter(s => s.roof).map(s => `${s.label} ${s.roof.source}`).sort(),
      looks: sets.filter(s => !s.roof).map(s => `${s.borderColor} ${s.pointStyle}`), rows: [...document.querySelectorAll('table.shares tbody tr')].filter(r => !r.hidden).length }; });
    await visit(page, 'roofline/h200-node-1.h200-0.html');
    const all = await seen();
    assert.equal(all.points, all.rows);
    assert.equal(new Set(all.looks).size, all.looks.length);
    assert.deepEqual(all.roofs, ['copy measured', 'f16 datasheet', 'f16 measured', 'l2 read measured', 'read measured']);
    const old = await page.evaluate(() => Chart.getChart('canvas').data.datasets.flatMap(s => s.data).filter(p => p.old).length);
    assert.equal(old, 6, 'what had no time last night is of the night before');
    await page.selectOption('#choose-type', 'bf16');
    await page.selectOption('#choose-op', 'Attention');
    const some = await seen();
    assert.equal(some.points, 18);
    assert.equal(some.rows, 18);
    assert.deepEqual(some.roofs, ['copy measured', 'f16 measured', 'l2 read measured', 'read measured'], 'a type without a ceiling stands under the highest');
    assert.match(await page.textContent('table.shares tbody tr:not([hidden]) .c-under'), /fastest type/);
    await page.click('#trails');
    assert.equal(await page.getAttribute('#trails', 'aria-pressed'), 'true');
    const trail = await page.evaluate(() => Chart.getChart('canvas').data.datasets[0].data[0].trail);
    assert.ok(trail.length > 4 && trail.length <= 8 && trail.every((t, i) => !i || t[0] > trail[i - 1][0]), 'oldest first');
    const hash = await page.evaluate(() => location.hash);
    await visit(page, 'roofline/h200-node-1.h200-0.html' + hash);
    assert.equal((await seen()).points, 18);
    assert.equal(await page.getAttribute('#trails', 'aria-pressed'), 'true');
    assert.match(await page.textContent('table.shares'), /\d+\s%/);
    await context.close();
  },
  // Every rule once on each page; colours again in the dark, sizes and scrolling again on phones.
  async 'axe finds nothing: light, dark, phone'() {
    const { context, page } = await open({ colorScheme: 'light' }), all = [];
    const check = async (path, what, rules) => {
      await page.waitForFunction(() => document.documentElement.scrollWidth <= innerWidth, null, { timeout: 2000 }).catch(() => assert.fail(`${path} ${what}: scrolls sideways`));
      if (rules && !rules.length) return;
      const found = await page.evaluate(rules => axe.run({ resultTypes: ['violations'], preload: false, ...(rules ? { runOnly: rules } : {}) }), rules);
      all.push(...found.violations.map(v => `${path} ${what} ${v.id}: ${v.nodes.slice(0, 3).map(n => n.html.slice(0, 160)).join(' | ')}`));
    };
    for (const [root, path] of samples().map(p => [site, p]).concat(largeKinds(large).map(p => [large, p]))) {
      await page.setViewportSize({ width: 1280, height: 900 });
      await page.emulateMedia({ colorScheme: 'light' });
      await visit(page, path, root);
      await page.evaluate(axe);
      await check(path, 'light');
      await page.emulateMedia({ colorScheme: 'dark' });
      await page.waitForFunction(() => document.documentElement.dataset.theme === 'dark');
      await check(path, 'dark', ['color-contrast']);
      await page.setViewportSize({ width: 390, height: 844 });
      await check(path, 'phone', ['color-contrast', 'target-size', 'scrollable-region-focusable', 'link-in-text-block']);
      await page.setViewportSize({ width: 320, height: 700 });
      await check(path, 'small phone', []);
    }
    await context.close();
    assert.deepEqual(all, []);
  },
  async 'without JavaScript tables and drawings stand on every kind of page, buttons do not'() {
    const { context, page } = await open({ javaScriptEnabled: false });
    for (const path of samples().filter(p => !p.includes('#'))) {
      await visit(page, path);
      assert.equal(await page.locator('button:visible, input:visible, select:visible, canvas:visible').count(), 0, `${path}: controls without function`);
      const rows = page.locator('tbody tr, article, .timeline li, .card, dl dd').filter({ visible: true });
      if (path !== 'compare.html') assert.ok(await rows.count(), `${path}: nothing to read`);
      else assert.ok(await page.locator('.no-js').isVisible());
    }
    await visit(page, 'roofline/h200-node-1.h200-0.html');
    assert.ok(await page.locator('svg.roofline').isVisible());
    const points = await page.locator('table.shares tbody tr').count(); // marks that lie on each other are one
    const marks = await page.evaluate(() => [...document.querySelectorAll('svg.roofline .mark')].reduce((n, e) => n + e.getAttribute('d').split('M').length - 1, 0));
    assert.ok(points > 30 && marks <= points && marks > points * 0.7, `${marks} marks of ${points} points`);
    assert.deepEqual(await page.locator('.marks li').allTextContents(), ['cublas', 'cutlass', 'cutlass · 128x256x64', 'flash-attention']);
    await visit(page, SERIES);
    assert.ok(await page.locator('svg.trend').isVisible());
    await context.close();
  },
  async 'paper is light, has the drawings, and nothing is cut off'() {
    const { context, page } = await open({ colorScheme: 'dark' });
    for (const path of samples().filter(p => !p.includes('#'))) {
      await visit(page, path);
      await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
      const paper = await page.evaluate(() => ({ colour: getComputedStyle(document.body).backgroundColor, text: getComputedStyle(document.querySelector('h1')).color,
        canvas: [...document.querySelectorAll('.canvas canvas')].some(c => c.offsetParent), cut: [...document.querySelectorAll('.scroll')].some(e => getComputedStyle(e).overflowX !== 'visible'),
        controls: [...document.querySelectorAll('button, select, input')].filter(e => e.offsetParent).map(e => e.id || e.textContent) }));
      assert.deepEqual([paper.colour, paper.text, paper.canvas, paper.cut], ['rgb(255, 255, 255)', 'rgb(27, 33, 40)', false, false], path);
      if (path !== 'compare.html') assert.deepEqual(paper.controls, [], path); // there they say what is compared
      await page.emulateMedia({ media: null });
    }
    await visit(page, SERIES);
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    assert.ok(await page.locator('svg.trend').isVisible());
    await context.close();
  },
  async 'hostile names are text'() {
    const { context, page } = await open({});
    const hostile = pages(site).filter(f => /script|onmouseover/.test(f));
    assert.ok(hostile.length > 5);
    for (const path of [...hostile, 'index.html', 'lists/index.html', 'alerts.html', 'kernels/gemm.html']) {
      await visit(page, path);
      const found = await page.evaluate(() => ({ text: document.body.innerText, odd: [...document.querySelectorAll('script:not([src]), img, iframe, textarea, main b[onmouseover], svg[onload], [onerror]')].map(e => e.outerHTML.slice(0, 80)) }));
      assert.deepEqual(found.odd, [], path);
      assert.match(found.text, /<script>|<b onmouseover|<svg onload|<<<</, path);
    }
    await context.close();
  },
  async 'a size under the pointer is shown on all charts of a kernel'() {
    const { context, page } = await open({});
    await visit(page, 'kernels/gemm.html');
    const charts = page.locator('.scaling canvas');
    const shown = await page.evaluate(() => {
      dispatchEvent(new Event('beforeprint')); // draws those that are not on the screen
      const all = [...document.querySelectorAll('.scaling canvas')].map(c => Chart.getChart(c)), first = all[0].data.datasets[0].data, x = first.map(p => p.x).find(v => all[1].data.datasets.some(s => s.data.some(p => p.x === v)));
      all[0].options.onHover({}, [{ datasetIndex: 0, index: first.findIndex(p => p.x === x) }]);
      return { x, active: all[1].getActiveElements().map(a => all[1].data.datasets[a.datasetIndex].data[a.index].x) };
    });
    assert.ok(await charts.count() > 1);
    assert.ok(shown?.active.length && shown.active.every(x => x === shown.x), JSON.stringify(shown));
    await context.close();
  },
};

// The same over http, under a path: nothing is asked for above it.
const server = createServer((request, response) => {
  const path = decodeURIComponent(new URL(request.url, 'http://x').pathname), file = join(site, path.slice('/kernels/nightly'.length));
  if (!path.startsWith('/kernels/nightly/') || !file.startsWith(site) || !existsSync(file)) { response.writeHead(404); return response.end(); }
  const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };
  response.writeHead(200, { 'content-type': types[extname(file)] ?? 'text/plain' });
  response.end(readFileSync(file));
});
tests['over http, under a path, every kind of page works'] = async () => {
  await new Promise(done => server.listen(0, '127.0.0.1', done));
  const base = `http://127.0.0.1:${server.address().port}/kernels/nightly/`, { context, page } = await open({ allowed: base });
  for (const path of samples()) {
    await page.goto(base + encodeURI(path).replaceAll('%23', '#'));
    assert.deepEqual(page.errors, [], path);
  }
  await page.goto(`${base}compare.html`);
  await page.selectOption('#a-age', 'night');
  await page.waitForFunction(() => document.getElementById('compare').dataset.ready !== '');
  assert.deepEqual(page.errors, []);
  await context.close();
  server.close();
};

const failed = await runAll(tests);
await browser.close();
process.exit(failed ? 1 : 0);
