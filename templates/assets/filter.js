// The filters of a list: words that must all be in the row, and one choice each of kernel, type, backend, device and verdict. "/" goes to the words,
// Escape empties everything. What is chosen is in the address.
(function () {
  "use strict";
  var box = document.getElementById("filters"), input = document.getElementById("filter"), count = document.getElementById("filter-count");
  function cell(row, name) { var c = row.querySelector(name); return c ? c.textContent.trim() : ""; }
  var groups = Array.prototype.map.call(document.querySelectorAll(".group"), function (group) {
    return { node: group, rows: Array.prototype.map.call(group.querySelectorAll("tbody tr"), function (row) {
      var verdict = cell(row, ".c-verdict");
      return { node: row, text: row.textContent.toLowerCase(), op: group.dataset.op, type: row.dataset.type, backend: row.dataset.backend,
        device: cell(row, ".c-device"), status: verdict ? verdict.split(/\s+/) : ["no verdict"] };
    }) };
  });
  var all = groups.reduce(function (a, g) { return a.concat(g.rows); }, []);
  var choices = [["op", "Kernel"], ["type", "Type"], ["backend", "Backend"], ["device", "Device"], ["status", "Verdict"]].map(function (c) {
    var seen = {};
    all.forEach(function (row) { [].concat(row[c[0]]).forEach(function (v) { if (v) seen[v] = (seen[v] || 0) + 1; }); });
    var values = Object.keys(seen).sort();
    if (values.length < 2) return null;
    var side = document.createElement("div"), label = document.createElement("label"), select = document.createElement("select");
    side.className = "side";
    label.textContent = c[1];
    label.htmlFor = select.id = "choose-" + c[0];
    [""].concat(values).forEach(function (v) {
      var o = document.createElement("option");
      o.value = v;
      o.textContent = v ? v + " (" + seen[v] + ")" : "any";
      select.append(o);
    });
    side.append(label, select);
    box.insertBefore(side, count);
    select.addEventListener("change", function () { KS.set(c[0], select.value); show(); });
    return { key: c[0], select: select, values: values };
  }).filter(Boolean);

  function show() {
    var words = input.value.toLowerCase().split(/\s+/).filter(Boolean), shown = 0;
    var wanted = choices.filter(function (c) { return c.select.value; });
    groups.forEach(function (group) {
      var any = false;
      group.rows.forEach(function (row) {
        var match = words.every(function (w) { return row.text.indexOf(w) >= 0; }) &&
          wanted.every(function (c) { return [].concat(row[c.key]).indexOf(c.select.value) >= 0; });
        if (row.node.hidden === match) row.node.hidden = !match;
        any = any || match;
        shown += match;
      });
      group.node.hidden = !any;
    });
    count.textContent = words.length || wanted.length ? shown + " of " + all.length : "";
  }
  function restore() {
    input.value = KS.get("q");
    choices.forEach(function (c) { var v = KS.get(c.key); c.select.value = c.values.indexOf(v) >= 0 ? v : ""; });
    show();
  }
  box.hidden = false;
  input.addEventListener("input", function () { KS.set("q", input.value.trim()); show(); });
  KS.on(restore);
  KK.add("/", "go to the filter", function () { input.focus(); });
  KK.add("Escape", "empty the filters", function (e) {
    if (e.target !== input && e.target !== document.body && e.target.tagName !== "SELECT") return false;
    KS.set("q", "");
    choices.forEach(function (c) { KS.set(c.key, ""); });
    restore();
    input.blur();
  }, true);
  restore();
})();
