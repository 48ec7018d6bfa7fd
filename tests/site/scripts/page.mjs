// A page without a browser: enough of the DOM for the scripts of the site, so that a test of them
// takes milliseconds. What only a browser knows (layout, fonts, colours) is a constant here; the
// tests in tests/site/browser look at it.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { compileFunction } from "node:vm";
import { Document, Event, EventTarget } from "./dom.mjs";

const ASSETS = new URL("../../../templates/assets/", import.meta.url);

// Keeps what a script gives to Chart.js.
export class FakeChart {
  static defaults = { font: {} };
  static made = [];

  constructor(canvas, { type, data, options, plugins }) {
    Object.assign(this, { canvas, type, data, options, plugins, updates: 0, isDestroyed: false });
    this.tooltip = {
      body: [],
      active: [],
      setActiveElements: (list) => (this.tooltip.active = list),
    };
    this.active = [];
    this.scales = { x: { min: 0, max: 1 }, y: { min: 0, max: 1 } };
    FakeChart.made.push(this);
  }

  update() {
    this.updates++;
  }

  destroy() {
    this.isDestroyed = true;
  }

  setActiveElements(list) {
    this.active = list;
  }

  getDatasetMeta(index) {
    return { data: this.data.datasets[index].data.map((_, i) => ({ x: i, y: index })) };
  }

  isDatasetVisible(index) {
    return !this.data.datasets[index].hidden;
  }
}

function makeLocation(hash) {
  return {
    hash,
    pathname: "/page.html",
    search: "",
    href: `file:///page.html${hash}`,
    protocol: "file:",
  };
}

// What the scripts find as globals.
function makeGlobals(document, { hash, stored, prefersDark }) {
  const location = makeLocation(hash);
  const listeners = new EventTarget();
  const storage = new Map(Object.entries(stored));
  const timers = [];
  const globals = {
    document,
    location,
    history: {
      replaceState(_state, _title, address) {
        location.hash = address.startsWith("#") ? address : "";
      },
    },
    addEventListener: (...rest) => listeners.addEventListener(...rest),
    removeEventListener: (...rest) => listeners.removeEventListener(...rest),
    dispatchEvent: (event) => listeners.dispatchEvent(event),
    getComputedStyle: () => ({
      fontFamily: "sans",
      getPropertyValue: (name) => ` colour(${name}) `,
    }),
    matchMedia: () => ({ matches: prefersDark, addEventListener() {} }),
    localStorage: {
      getItem: (key) => storage.get(key) ?? null,
      setItem: (key, value) => storage.set(key, String(value)),
      removeItem: (key) => storage.delete(key),
    },
    requestAnimationFrame: (run) => run(0),
    setTimeout: (run) => timers.push(run),
    clearTimeout() {},
    Option: function Option(text, value) {
      const option = document.createElement("option");
      option.textContent = text;
      option.value = value;
      return option;
    },
    Event,
    CustomEvent: Event,
    navigator: {},
    getSelection: Object.assign(() => ({ selectAllChildren: globals.getSelection.run }), {
      run() {},
    }),
    URL: { createObjectURL: () => "blob:", revokeObjectURL() {} },
    ResizeObserver: class {
      observe() {}
    },
    IntersectionObserver: class {
      constructor(run) {
        this.run = run;
      }
      observe(target) {
        this.run([{ isIntersecting: true, target }], this);
      }
      disconnect() {}
      unobserve() {}
    },
    Chart: FakeChart,
    devicePixelRatio: 1,
    innerWidth: 1200,
    innerHeight: 800,
    scrollTo() {},
  };
  globals.window = globals;
  return { globals, timers };
}

// A page with the HTML of its body. `scripts`: names in templates/assets, in the order of the page.
// before(tracker, window): runs before the scripts that follow the first that are named in `first`.
export function openPage(
  html,
  scripts,
  { hash = "", root = "", stored = {}, prefersDark = false, first = [], before } = {},
) {
  FakeChart.made = [];
  const document = new Document(html);
  document.documentElement.dataset.root = root;
  const { globals, timers } = makeGlobals(document, { hash, stored, prefersDark });
  const run = (name) => {
    const file = fileURLToPath(new URL(`${name}.js`, ASSETS));
    const names = Object.keys(globals);
    compileFunction(readFileSync(file, "utf8"), names, { filename: file })(
      ...names.map((key) => globals[key]),
    );
  };
  first.forEach(run);
  before?.(globals.tracker, globals);
  scripts.forEach(run);
  return {
    document,
    window: globals,
    tracker: globals.tracker,
    charts: FakeChart.made,
    hash: () => globals.location.hash,
    runTimers: () => timers.splice(0).forEach((step) => step()),
    // The user opens another state of the page by its address.
    navigate(address) {
      globals.location.hash = address;
      globals.dispatchEvent(new Event("hashchange"));
    },
  };
}
