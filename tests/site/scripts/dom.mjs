// The part of the DOM that the scripts of the site use, see page.mjs.

export class Event {
  constructor(type, properties = {}) {
    this.type = type;
    this.defaultPrevented = false;
    Object.assign(this, properties);
  }

  preventDefault() {
    this.defaultPrevented = true;
  }

  stopPropagation() {
    this.isStopped = true;
  }
}

export class EventTarget {
  constructor() {
    Object.defineProperty(this, "listeners", { value: new Map() });
  }

  addEventListener(type, run) {
    this.listeners.set(type, [...(this.listeners.get(type) ?? []), run]);
  }

  removeEventListener(type, run) {
    const rest = (this.listeners.get(type) ?? []).filter((other) => other !== run);
    this.listeners.set(type, rest);
  }

  // Events rise to the document.
  dispatchEvent(event) {
    event.target ??= this;
    event.currentTarget = this;
    for (const run of this.listeners.get(event.type) ?? []) run.call(this, event);
    this[`on${event.type}`]?.(event);
    if (!event.isStopped) this.eventParent?.dispatchEvent(event);
    return !event.defaultPrevented;
  }
}

class Text {
  constructor(text) {
    this.textContent = text;
  }

  cloneNode() {
    return new Text(this.textContent);
  }

  remove() {
    this.parentNode?.removeChild(this);
  }
}

// ---- selectors -

const SIMPLE =
  /^([\w-]+|\*)|#([\w-]+)|\.([\w-]+)|\[([\w-]+)(?:=["']?([^"'\]]*)["']?)?\]|:not\(([^)]*)\)/;

function matchesCompound(node, compound) {
  for (let rest = compound; rest;) {
    const found = SIMPLE.exec(rest);
    if (!found) throw new Error(`the selector "${compound}" is not known here`);
    const [whole, tag, id, name, attribute, value, not] = found;
    if (tag && tag !== "*" && node.tagName !== tag.toUpperCase()) return false;
    if (id && node.id !== id) return false;
    if (name && !node.classList.contains(name)) return false;
    if (attribute && !node.hasAttribute(attribute)) return false;
    if (value !== undefined && node.getAttribute(attribute) !== value) return false;
    if (not && matchesCompound(node, not)) return false;
    rest = rest.slice(whole.length);
  }
  return true;
}

function matchesChain(node, parts) {
  const [last, ...before] = [...parts].reverse();
  if (!matchesCompound(node, last)) return false;
  let ancestor = node.parentNode;
  for (let i = 0; i < before.length; i++) {
    const isChild = before[i] === ">";
    if (isChild) i++;
    while (ancestor?.tagName && !matchesCompound(ancestor, before[i])) {
      if (isChild) return false;
      ancestor = ancestor.parentNode;
    }
    if (!ancestor?.tagName) return false;
    ancestor = ancestor.parentNode;
  }
  return true;
}

const matches = (node, selector) =>
  selector.split(",").some((chain) => matchesChain(node, chain.trim().split(/\s+/)));

// ---- elements -

const BOOLEAN = ["hidden", "disabled", "checked", "open"];
const REFLECTED = { htmlFor: "for", className: "class", tabIndex: "tabindex" };
for (const name of ["id", "href", "title", "type", "src", "name", "scope", "download", "rel"])
  REFLECTED[name] = name;
const toAttribute = (key) => `data-${key.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`)}`;

class Style {
  setProperty(name, value) {
    this[name] = value;
  }
}

export class Element extends EventTarget {
  constructor(document, tag) {
    super();
    Object.assign(this, { ownerDocument: document, childNodes: [], attributes: new Map() });
    this.tagName = tag.toUpperCase();
    this.style = new Style();
    this.parentNode = null;
    this.dataset = new Proxy(
      {},
      {
        get: (_, key) => this.attributes.get(toAttribute(key)),
        set: (_, key, value) => !!this.attributes.set(toAttribute(key), String(value)),
        has: (_, key) => this.attributes.has(toAttribute(key)),
        deleteProperty: (_, key) => this.attributes.delete(toAttribute(key)) || true,
      },
    );
    this.classList = {
      list: () => this.className.split(/\s+/).filter(Boolean),
      contains: (name) => this.classList.list().includes(name),
      add: (...names) =>
        (this.className = [...new Set([...this.classList.list(), ...names])].join(" ")),
      remove: (...names) =>
        (this.className = this.classList
          .list()
          .filter((name) => !names.includes(name))
          .join(" ")),
      toggle: (name, force = !this.classList.contains(name)) =>
        this.classList[force ? "add" : "remove"](name),
    };
  }

  get eventParent() {
    return this.parentNode ?? undefined;
  }

  // ---- attributes ----

  getAttribute(name) {
    return this.attributes.get(name) ?? null;
  }

  setAttribute(name, value) {
    this.attributes.set(name, String(value));
  }

  hasAttribute(name) {
    return this.attributes.has(name);
  }

  removeAttribute(name) {
    this.attributes.delete(name);
  }

  toggleAttribute(name, force = !this.hasAttribute(name)) {
    if (force) this.setAttribute(name, "");
    else this.removeAttribute(name);
  }

  // ---- the tree ----

  get children() {
    return this.childNodes.filter((node) => node instanceof Element);
  }

  get firstChild() {
    return this.childNodes[0] ?? null;
  }

  get firstElementChild() {
    return this.children[0] ?? null;
  }

  get lastElementChild() {
    return this.children.at(-1) ?? null;
  }

  get nextElementSibling() {
    const { children } = this.parentNode;
    return children[children.indexOf(this) + 1] ?? null;
  }

  get textContent() {
    return this.childNodes.map((node) => node.textContent).join("");
  }

  set textContent(text) {
    this.replaceChildren(...(text === "" ? [] : [String(text)]));
  }

  adopt(node) {
    const child = typeof node === "object" ? node : new Text(String(node));
    child.parentNode?.removeChild(child);
    child.parentNode = this;
    return child;
  }

  removeChild(node) {
    this.childNodes = this.childNodes.filter((other) => other !== node);
    node.parentNode = null;
  }

  append(...nodes) {
    const adopted = nodes.map((node) => this.adopt(node));
    this.childNodes.push(...adopted);
  }

  prepend(...nodes) {
    const adopted = nodes.map((node) => this.adopt(node));
    this.childNodes.unshift(...adopted);
  }

  insertBefore(node, before) {
    const child = this.adopt(node);
    const at = before ? this.childNodes.indexOf(before) : this.childNodes.length;
    this.childNodes.splice(at, 0, child);
  }

  before(...nodes) {
    for (const node of nodes) this.parentNode.insertBefore(node, this);
  }

  after(...nodes) {
    const { childNodes } = this.parentNode;
    const next = childNodes[childNodes.indexOf(this) + 1];
    for (const node of nodes) this.parentNode.insertBefore(node, next);
  }

  replaceChildren(...nodes) {
    for (const node of this.childNodes) node.parentNode = null;
    this.childNodes = [];
    this.append(...nodes);
  }

  replaceWith(node) {
    this.before(node);
    this.remove();
  }

  remove() {
    this.parentNode?.removeChild(this);
  }

  contains(node) {
    return node === this || this.children.some((child) => child.contains(node));
  }

  cloneNode(deep = false) {
    const copy = new Element(this.ownerDocument, this.tagName);
    copy.attributes = new Map(this.attributes);
    if (deep) copy.append(...this.childNodes.map((node) => node.cloneNode(true)));
    return copy;
  }

  // ---- queries ----

  *descendants() {
    for (const child of this.children) {
      yield child;
      yield* child.descendants();
    }
  }

  matches(selector) {
    return matches(this, selector);
  }

  closest(selector) {
    if (this.matches(selector)) return this;
    return this.parentNode instanceof Element ? this.parentNode.closest(selector) : null;
  }

  querySelectorAll(selector) {
    if (selector.startsWith(":scope > "))
      return this.children.filter((node) => node.matches(selector.slice(9)));
    return [...this.descendants()].filter((node) => node.matches(selector));
  }

  querySelector(selector) {
    return this.querySelectorAll(selector)[0] ?? null;
  }

  // ---- tables ----

  get rows() {
    return this.querySelectorAll("tr");
  }

  get cells() {
    return this.children.filter(({ tagName }) => tagName === "TD" || tagName === "TH");
  }

  get tHead() {
    return this.querySelector("thead");
  }

  get tFoot() {
    return this.querySelector("tfoot");
  }

  get tBodies() {
    return this.querySelectorAll("tbody");
  }

  deleteRow(index) {
    this.rows.at(index).remove();
  }

  // ---- forms ----

  get options() {
    return this.querySelectorAll("option");
  }

  get text() {
    return this.textContent;
  }

  get selectedOptions() {
    return this.options.filter(({ value }) => value === this.value).slice(0, 1);
  }

  get selectedIndex() {
    return this.options.findIndex(({ value }) => value === this.chosen);
  }

  set selectedIndex(index) {
    this.chosen = this.options[index]?.value;
  }

  get value() {
    if (this.tagName === "SELECT") return this.chosen ?? this.options[0]?.value ?? "";
    return this.getAttribute("value") ?? (this.tagName === "OPTION" ? this.textContent : "");
  }

  set value(value) {
    if (this.tagName === "SELECT") this.chosen = value;
    else this.setAttribute("value", value);
  }

  // ---- what a user does, and what a browser would show ----

  click() {
    this.dispatchEvent(new Event("click"));
  }

  focus() {
    this.ownerDocument.activeElement = this;
  }

  blur() {
    this.ownerDocument.activeElement = this.ownerDocument.body;
  }

  scrollIntoView() {
    this.ownerDocument.scrolledTo = this;
  }

  showModal() {
    this.open = true;
  }

  close() {
    this.open = false;
  }

  getBoundingClientRect() {
    return { left: 0, top: 0, width: 1000, height: 400, right: 1000, bottom: 400 };
  }

  get clientWidth() {
    return 1000;
  }

  setPointerCapture() {}

  getContext() {
    this.context ??= new Proxy(
      { calls: [] },
      {
        get: (target, key) => {
          if (key in target) return target[key];
          if (key === "measureText") return (text) => ({ width: 6 * text.length });
          return (...rest) => target.calls.push([key, ...rest]);
        },
      },
    );
    return this.context;
  }
}

for (const name of BOOLEAN)
  Object.defineProperty(Element.prototype, name, {
    get() {
      return this.hasAttribute(name);
    },
    set(isSet) {
      this.toggleAttribute(name, Boolean(isSet));
    },
  });
for (const [property, attribute] of Object.entries(REFLECTED))
  Object.defineProperty(Element.prototype, property, {
    get() {
      return this.getAttribute(attribute) ?? "";
    },
    set(value) {
      this.setAttribute(attribute, value);
    },
  });

// ---- documents -

const VOID = ["input", "br", "img", "meta", "link", "hr"];
const TOKEN = /<!--.*?-->|<(\/?)([\w-]+)((?:\s+[\w-]+(?:="[^"]*")?)*)\s*(\/?)>|([^<]+)/gs;
const decode = (text) =>
  text.replace(
    /&(amp|lt|gt|quot);/g,
    (_, name) => ({ amp: "&", lt: "<", gt: ">", quot: '"' })[name],
  );

function parse(document, html, parent) {
  const open = [parent];
  for (const [, isEnd, tag, attributes, , text] of html.matchAll(TOKEN)) {
    if (text !== undefined) open.at(-1).append(decode(text));
    else if (isEnd) open.pop();
    else if (tag) {
      const node = new Element(document, tag);
      for (const [, name, value = ""] of attributes.matchAll(/([\w-]+)(?:="([^"]*)")?/g))
        node.setAttribute(name, decode(value));
      open.at(-1).append(node);
      if (!VOID.includes(tag)) open.push(node);
    }
  }
}

export class Document extends EventTarget {
  constructor(html) {
    super();
    this.documentElement = new Element(this, "html");
    this.documentElement.parentNode = this;
    this.head = new Element(this, "head");
    this.body = new Element(this, "body");
    this.documentElement.append(this.head, this.body);
    this.activeElement = this.body;
    parse(this, html, this.body);
  }

  removeChild() {}

  createElement(tag) {
    return new Element(this, tag);
  }

  createElementNS(_space, tag) {
    return new Element(this, tag);
  }

  getElementById(id) {
    return [...this.documentElement.descendants()].find((node) => node.id === id) ?? null;
  }

  querySelector(selector) {
    return this.documentElement.querySelector(selector);
  }

  querySelectorAll(selector) {
    return this.documentElement.querySelectorAll(selector);
  }
}
