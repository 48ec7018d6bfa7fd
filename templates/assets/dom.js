// Small helpers for building and reading the page.
"use strict";
{
  // getComputedStyle() recalculates layout, so colours are cached until the theme changes.
  let colours = {};
  addEventListener("stylechange", () => {
    colours = {};
  });

  // "light-dark(LIGHT, DARK)" is LIGHT or DARK: a canvas cannot tell.
  function resolve(name) {
    const root = document.documentElement;
    const value = getComputedStyle(root).getPropertyValue(name).trim();
    const [, light, dark] = /^light-dark\((.*), (.*)\)$/.exec(value) ?? [];
    if (!light) return value;
    return root.dataset.theme === "dark" ? dark : light;
  }

  window.tracker.dom = {
    // Address of the site's top folder relative to this page: "" or "../".
    root: document.documentElement.dataset.root,

    byId: (id) => document.getElementById(id),

    all: (selector, parent = document) => [...parent.querySelectorAll(selector)],

    // Creates an element. `properties` are DOM properties (textContent, className, ...).
    element(tag, properties = {}, ...children) {
      const node = Object.assign(document.createElement(tag), properties);
      node.append(...children);
      return node;
    },

    // A button that runs a function.
    button(textContent, run, properties = {}) {
      const button = this.element("button", { type: "button", textContent, ...properties });
      button.addEventListener("click", run);
      return button;
    },

    // An element of a drawing.
    svg(name, attributes, ...children) {
      const node = document.createElementNS("http://www.w3.org/2000/svg", name);
      for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
      node.append(...children);
      return node;
    },

    // A labelled <select>; `options` are [text, value] pairs.
    labelledSelect(id, title, options) {
      const select = this.element("select", { id });
      select.append(...options.map(([text, value]) => new Option(text, value)));
      const label = this.element("label", { htmlFor: id, textContent: title });
      return { label, select, box: this.element("div", { className: "side" }, label, select) };
    },

    // Selects a value; a value that is not among the options selects the first option.
    selectValue(select, value) {
      select.value = value;
      if (select.selectedIndex < 0) select.selectedIndex = 0;
    },

    // The value of a custom property of the style sheet, such as "--c1".
    colour(name) {
      return (colours[name] ??= resolve(name));
    },

    unique: (list) => [...new Set(list)],

    // The rows behind the first ones of a long list are the text of a <noscript> until a script
    // needs all of them: as elements they take the browser seconds.
    countRest() {
      const boxes = this.all("noscript[data-count]");
      return boxes.reduce((sum, box) => sum + Number(box.dataset.count), 0);
    },

    loadRest() {
      const boxes = this.all("noscript[data-count]");
      for (const box of boxes) {
        const { content } = this.element("template", { innerHTML: box.textContent });
        const body = content.querySelector("table:not(.members) > tbody");
        const list = body ? box.parentElement.querySelector("tbody") : box.parentElement;
        box.remove();
        list.append(...(body ?? content).children);
      }
      if (boxes.length) document.dispatchEvent(new Event("rowsload"));
    },
  };
}
