// Keys: every script adds its own, "?" lists them. Ignored while somebody types, but for those that ask for it.
window.KK = (function () {
  "use strict";
  var keys = [], dialog;
  function row(list, key, what) {
    var dt = document.createElement("dt"), dd = document.createElement("dd"), kbd = document.createElement("kbd");
    kbd.textContent = key;
    dt.append(kbd);
    dd.textContent = what;
    list.append(dt, dd);
  }
  function help() {
    if (!dialog) {
      dialog = document.createElement("dialog");
      dialog.className = "keys";
      dialog.setAttribute("aria-labelledby", "keys-title");
      var title = document.createElement("h2"), list = document.createElement("dl"), close = document.createElement("button");
      title.id = "keys-title";
      title.textContent = "Keys";
      keys.forEach(function (k) { row(list, k.name || k.key, k.what); });
      row(list, "Tab", "go to the next control; a chart is one");
      close.type = "button";
      close.textContent = "Close";
      close.addEventListener("click", function () { dialog.close(); });
      dialog.append(title, list, close);
      document.body.append(dialog);
    }
    if (dialog.open) dialog.close(); else dialog.showModal();
  }
  addEventListener("keydown", function (e) {
    var typing = /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName);
    if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented || (dialog && dialog.open && e.key !== "?")) return;
    keys.some(function (k) {
      if (k.key !== e.key || (typing && !k.always) || !k.run || k.run(e) === false) return false;
      e.preventDefault();
      return true;
    });
  });
  function button() {
    var b = document.getElementById("keys");
    if (!b) return;
    b.hidden = false;
    b.addEventListener("click", help);
  }
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", button); else button();
  // run: returns false where the key is not for it; without it, the key is only told
  var add = function (key, what, run, always, name) { keys.push({ key: key, what: what, run: run, always: always, name: name }); };
  add("?", "show these keys", help);
  return { add: add };
})();
