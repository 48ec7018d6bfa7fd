// The filter of the overview: every word must be in the row. "/" goes to it, Escape empties it.
(function () {
  "use strict";
  var input = document.getElementById("filter"), count = document.getElementById("filter-count");
  var groups = Array.prototype.map.call(document.querySelectorAll(".group"), function (group) {
    return { node: group, rows: Array.prototype.map.call(group.querySelectorAll("tbody tr"), function (row) {
      return { node: row, text: row.textContent.toLowerCase() };
    }) };
  });
  function show() {
    var words = input.value.toLowerCase().split(/\s+/).filter(Boolean), shown = 0, total = 0;
    groups.forEach(function (group) {
      var any = false;
      group.rows.forEach(function (row) {
        var match = words.every(function (w) { return row.text.indexOf(w) >= 0; });
        if (row.node.hidden === match) row.node.hidden = !match;
        any = any || match;
        shown += match;
        total++;
      });
      group.node.hidden = !any;
    });
    count.textContent = words.length ? shown + " of " + total : "";
  }
  input.hidden = false;
  input.value = KS.get("q");
  show();
  input.addEventListener("input", function () { KS.set("q", input.value.trim()); show(); });
  KS.on(function () { input.value = KS.get("q"); show(); });
  addEventListener("keydown", function (e) {
    var typing = /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName);
    if (e.key === "/" && !typing && !e.ctrlKey && !e.metaKey && !e.altKey) {
      e.preventDefault();
      input.focus();
    } else if (e.key === "Escape" && e.target === input) {
      input.value = "";
      KS.set("q", "");
      show();
      input.blur();
    }
  });
})();
