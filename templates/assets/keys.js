// Keyboard shortcuts: every script adds its own, "?" lists them.
"use strict";
window.tracker ??= {};
{
  const shortcuts = [];
  let dialog = null;

  function addRow(list, key, description) {
    const term = document.createElement("dt");
    const keyboard = document.createElement("kbd");
    const text = document.createElement("dd");
    keyboard.textContent = key;
    text.textContent = description;
    term.append(keyboard);
    list.append(term, text);
  }

  function createDialog() {
    const title = Object.assign(document.createElement("h2"), { id: "keys-title" });
    const list = document.createElement("dl");
    const close = Object.assign(document.createElement("button"), { type: "button" });
    dialog = Object.assign(document.createElement("dialog"), { className: "keys" });
    dialog.setAttribute("aria-labelledby", title.id);
    title.textContent = "Keyboard shortcuts";
    close.textContent = "Close";
    close.addEventListener("click", () => dialog.close());
    for (const { name, description } of shortcuts) addRow(list, name, description);
    addRow(list, "Tab", "go to the next control; a chart is a control");
    dialog.append(title, list, close);
    document.body.append(dialog);
  }

  function toggleHelp() {
    if (!dialog) createDialog();
    if (dialog.open) dialog.close();
    else dialog.showModal();
  }

  function run(shortcut, event) {
    const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
    if (shortcut.key !== event.key || !shortcut.run) return false;
    if (isTyping && !shortcut.whileTyping) return false;
    return shortcut.run(event) !== false;
  }

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (dialog?.open && event.key !== "?") return;
    if (shortcuts.some((shortcut) => run(shortcut, event))) event.preventDefault();
  });

  function setUpButton() {
    const button = document.getElementById("keys");
    if (!button) return;
    button.hidden = false;
    button.addEventListener("click", toggleHelp);
  }
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", setUpButton);
  else setUpButton();

  // run(event): false if the shortcut does not apply; without it the key is only listed.
  // name: shown instead of the key. whileTyping: also runs in text fields.
  function add({ key, description, run, name = key, whileTyping = false }) {
    shortcuts.push({ key, description, run, name, whileTyping });
  }
  add({ key: "?", description: "show the keyboard shortcuts", run: toggleHelp });
  window.tracker.keys = { add };
}
