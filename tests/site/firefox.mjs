// A walk through every kind of page in Firefox, from the disk, by WebDriver BiDi, which it speaks
// itself: no message on the console, no request that leaves the disk, charts are drawn, the keys
// and the address work. FIREFOX=path node --experimental-websocket firefox.mjs SITE
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { SERIES, pages, runAll } from "./pages.mjs";

const site = resolve(process.argv[2]),
  profile = mkdtempSync(join(tmpdir(), "firefox-"));
const firefox = spawn(
  process.env.FIREFOX,
  ["--headless", "--no-remote", "--profile", profile, "--remote-debugging-port=0", "about:blank"],
  { stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, HOME: profile } },
);
const address = await new Promise((done, fail) => {
  let said = "";
  firefox.stderr.on("data", (d) => {
    said += d;
    const m = said.match(/WebDriver BiDi listening on (ws:\S+)/);
    if (m) done(m[1]);
  });
  firefox.on("exit", (code) => fail(new Error(`Firefox ended with ${code}: ${said.slice(-400)}`)));
  setTimeout(() => fail(new Error(`Firefox does not listen: ${said.slice(-400)}`)), 60000).unref();
});
const socket = new WebSocket(`${address}/session`),
  waiting = new Map();
let last = 0,
  errors = [];
await new Promise((done, fail) => {
  socket.onopen = done;
  socket.onerror = () => fail(new Error(`no connection to ${address}`));
});
socket.onmessage = (event) => {
  const m = JSON.parse(event.data);
  if (m.id) {
    const { done, fail } = waiting.get(m.id);
    waiting.delete(m.id);
    if (m.type === "error") fail(new Error(`${m.error}: ${m.message}`));
    else done(m.result);
  } else if (m.method === "log.entryAdded" && ["error", "warn"].includes(m.params.level))
    errors.push(m.params.text);
  else if (
    m.method === "network.beforeRequestSent" &&
    !/^(file|data|about):/.test(m.params.request.url)
  )
    errors.push(`request: ${m.params.request.url}`);
  else if (m.method === "network.fetchError" && !m.params.request.url.endsWith("icon.svg"))
    errors.push(`failed: ${m.params.request.url}`);
};
function send(method, params) {
  return new Promise((done, fail) => {
    waiting.set(++last, { done, fail });
    socket.send(JSON.stringify({ id: last, method, params }));
  });
}
await send("session.new", { capabilities: {} });
await send("session.subscribe", {
  events: ["log.entryAdded", "network.beforeRequestSent", "network.fetchError"],
});
const { context } = await send("browsingContext.create", { type: "tab" });
await send("browsingContext.setViewport", { context, viewport: { width: 1280, height: 900 } });
async function run(code) {
  const r = await send("script.evaluate", {
    expression: `(async () => JSON.stringify(await (${code})()))()`,
    target: { context },
    awaitPromise: true,
  });
  if (r.type === "exception") throw new Error(r.exceptionDetails.text);
  return r.result.value === undefined ? undefined : JSON.parse(r.result.value);
}
async function visit(page) {
  errors = [];
  await send("browsingContext.navigate", { context, url: "about:blank", wait: "complete" });
  await send("browsingContext.navigate", {
    context,
    url: `file://${site}/${page}`,
    wait: "complete",
  });
}
async function press(...keys) {
  await send("input.performActions", {
    context,
    actions: [
      {
        type: "key",
        id: "keys",
        actions: keys.flatMap((value) => [
          { type: "keyDown", value },
          { type: "keyUp", value },
        ]),
      },
    ],
  });
}

const tests = {
  async "every kind of page loads from the disk without a message or a request, and its charts are drawn"() {
    for (const page of pages(site)) {
      await visit(page);
      const state = await run(`async () => {
        dispatchEvent(new Event('beforeprint')); // draws those that are not on the screen
        const hasInk = c => c.getContext('2d').getImageData(0, 0, c.width, c.height).data
          .some((v, i) => i % 4 === 3 && v);
        const drawn = () => [...document.querySelectorAll('canvas')]
          .filter(c => c.offsetParent).map(hasInk);
        await document.fonts.ready;
        const fonts = [...document.fonts].map(f => f.status);
        return { fonts, wide: document.documentElement.scrollWidth > innerWidth,
          h1: document.querySelectorAll('h1').length, drawn: drawn(),
          ready: !document.querySelector('#canvas')
            || !!document.getElementById('chart').dataset.ready,
          dialogs: document.querySelectorAll('script:not([src])').length };
      }`);
      assert.deepEqual(errors, [], page);
      assert.deepEqual(
        [state.h1, state.wide, state.ready, state.dialogs],
        [1, false, true, 0],
        page,
      );
      assert.ok(state.drawn.every(Boolean), `${page}: a chart is empty`);
      assert.deepEqual(state.fonts, ["loaded", "loaded"], page);
    }
  },
  async "a night is picked with the keyboard, is in the address, and comes back from it"() {
    await visit(SERIES);
    await run(`() => { document.getElementById('canvas').focus(); }`);
    await press("\uE010", "\uE012"); // End, left
    const picked = await run(
      `() => [document.getElementById('night-panel').textContent, location.hash, document.querySelectorAll('.ecdf canvas').length]`,
    );
    assert.match(picked[0], /Night of 2026-11-19.*Median.*Quartiles/);
    assert.match(picked[1], /night=\d+/);
    assert.equal(picked[2], 1);
    await visit(SERIES + picked[1]);
    assert.equal(await run(`() => document.getElementById('night-panel').textContent`), picked[0]);
    assert.deepEqual(errors, []);
  },
  async "keys are listed, the filter filters, the comparison compares, a roofline is filtered"() {
    await visit("lists/index.html");
    await press("?");
    assert.equal(await run(`() => document.querySelector('dialog.keys').open`), true);
    await press("\uE00C"); // Escape
    await press("/", ..."openblas regressed");
    assert.equal(
      await run(
        `() => [...document.querySelectorAll('.group tbody tr')].filter(r => !r.closest('[hidden]')).length`,
      ),
      2,
    );
    await visit("compare.html");
    assert.ok((await run(`() => document.querySelectorAll('#rows tr').length`)) > 5);
    await visit("roofline/h200-node-1.h200-0.html#type=bf16&op=Attention");
    assert.equal(await run(`() => document.getElementById('chart').dataset.ready`), "18");
    await visit("kernels/attention.html#metric=energy");
    assert.match(await run(`() => document.querySelector('table.compare td').textContent`), /J/);
    assert.deepEqual(errors, []);
  },
  async "dark is dark"() {
    await visit("index.html");
    const dark = await run(
      `() => { const b = document.getElementById('theme'); while (b.textContent !== 'Dark') b.click(); const c = getComputedStyle(document.body).backgroundColor; b.click(); return [c, b.textContent]; }`,
    );
    assert.deepEqual(dark, ["rgb(13, 17, 23)", "System"]);
  },
};
let failed;
try {
  failed = await runAll(tests);
} finally {
  firefox.removeAllListeners("exit");
  const ended = new Promise((done) => firefox.on("exit", done));
  firefox.kill();
  await ended;
  rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
}
process.exit(failed ? 1 : 0);
