// The tables of a kernel ranked by something else than time, and its maps as speed-ups of one backend over another. Both in the address.
(function () {
  "use strict";
  function scaled(v, units, step) {
    var i = 0;
    while (i < units.length - 1 && v >= step) { v /= step; i++; }
    return +v.toPrecision(4) + "\u00a0" + units[i];
  }
  function ns(v) { return scaled(v, ["ns", "\u00b5s", "ms", "s"], 1000); }
  function bytes(v) { return scaled(v, ["B", "kB", "MB", "GB"], 1000); }
  var metrics = [["p95", "95th percentile", ns], ["energy", "Energy of one run", function (v) { return scaled(v * 1e6, ["\u00b5J", "mJ", "J", "kJ"], 1000); }],
    ["workspace", "Workspace", bytes], ["memory", "Device memory", bytes], ["launch", "Launch cost", ns], ["build", "Build time", function (v) { return scaled(v, ["s"], 1e9); }]]
    .map(function (m, i) { return { key: m[0], title: m[1], text: m[2], of: function (td) { var v = (td.dataset.more || "").split(" ")[i]; return v === undefined || v === "-" ? NaN : +v; } }; });
  var tables = Array.prototype.map.call(document.querySelectorAll("table.compare"), function (table) {
    return { node: table };
  });
  function rowsOf(table) { return Array.prototype.map.call(table.tBodies[0].rows, function (tr) { return Array.prototype.slice.call(tr.cells, 1); }); }
  var select = document.getElementById("metric"), tools = document.getElementById("tools");
  function known(m) { return tools.dataset.metrics.split(" ").indexOf(m.key) >= 0; }

  // One cell, without what it had: the value as the link, how many times the best, a bar.
  function cell(td, v, best, text) {
    var link = td.querySelector("a"), ratio = td.querySelector(".ratio"), sub = td.querySelector(":scope > .sub");
    if (!link || link.querySelector(".tag")) return;
    td.classList.toggle("best", v === best);
    link.textContent = v >= 0 ? text(v) : "not known";
    if (ratio) ratio.textContent = !(v >= 0) || !(best >= 0) ? "" : v === best ? "best" : best > 0 ? (v / best).toFixed(2) + "\u00d7" : "more";
    if (ratio) {
      var part = v === best ? 1 : best > 0 && v > 0 ? best / v : 0;
      td.className = td.className.replace(/\bw\d+/, "w" + 2 * Math.round(50 * part));
    }
    if (sub) sub.textContent = "";
  }
  function rank(t, m) {
    if (!t.body) { // what it comes back to
      t.body = t.node.tBodies[0].cloneNode(true);
      t.foot = t.node.tFoot.cloneNode(true);
    }
    t.rows = rowsOf(t.node);
    var columns = t.node.tHead.rows[0].cells.length - 1, logs = new Array(columns).fill(0), shared = new Array(columns).fill(0), wins = new Array(columns).fill(0);
    t.rows.forEach(function (cells) {
      var values = cells.map(m.of), there = values.filter(function (v) { return v >= 0; }), best = there.length > 1 ? Math.min.apply(null, there) : NaN;
      cells.forEach(function (td, i) {
        cell(td, values[i], best, m.text);
        if (!(best >= 0) || !(values[i] >= 0)) return;
        wins[i] += values[i] === best;
        if (best > 0) { logs[i] += Math.log(values[i] / best); shared[i]++; }
      });
    });
    var foot = t.node.tFoot.rows;
    t.node.tFoot.querySelector(".metric-name").textContent = m.title;
    for (var i = 0; i < columns; i++) {
      foot[0].cells[i + 1].textContent = shared[i] ? Math.exp(logs[i] / shared[i]).toFixed(2) + "\u00d7 of " + shared[i] : "\u2013";
      foot[1].cells[i + 1].textContent = wins[i];
    }
  }
  // Back to what the page came with.
  function reset(t) {
    if (!t.body) return;
    t.node.tBodies[0].replaceWith(t.body.cloneNode(true));
    t.node.tFoot.replaceWith(t.foot.cloneNode(true));
  }
  var shown = false;
  function showMetric() {
    shown = !!select.value;
    var m = metrics.filter(function (m) { return m.key === select.value; })[0] || null;
    tables.forEach(reset);
    if (m) tables.forEach(function (t) { rank(t, m); });
    dispatchEvent(new CustomEvent("metricchange", { detail: m }));
  }

  // ---- maps ----------------------------------------------------------------------------------------------------------
  var maps = Array.prototype.map.call(document.querySelectorAll(".map-tools"), function (holder, index) {
    var section = holder.closest("section"), note = section.querySelector(".map-note");
    var names = Array.prototype.map.call(section.querySelectorAll("table.compare thead th.num"), function (th) { return th.textContent.trim(); });
    var cells = Array.prototype.map.call(section.querySelectorAll("table.map td[data-times]"), function (td) {
      return { td: td, times: td.dataset.times.split(" ").map(Number), ends: td.dataset.ends.split(" ").map(function (e) { return e.split(",").map(Number); }), link: td.querySelector("a"), lead: td.querySelector(".lead"), name: td.querySelector("a").textContent, ahead: td.querySelector(".lead").textContent, look: td.className };
    });
    var used = names.filter(function (n, i) { return cells.some(function (c) { return c.times[i] > 0; }); }), told = note.textContent;
    function choice(key, none, title) {
      var label = document.createElement("label"), s = document.createElement("select");
      s.id = "map-" + key + index;
      label.htmlFor = s.id;
      label.textContent = title;
      [""].concat(used).forEach(function (n) { s.append(new Option(n || none, n)); });
      holder.append(label, s);
      s.addEventListener("change", function () { KS.set(key, s.value); maps.forEach(function (m) { m(); }); });
      return s;
    }
    var a = choice("of", "the best", "Speed of"), b = choice("over", "the best other", "over");
    holder.hidden = false;
    // The time of b over that of a; b may be whoever is best beside a.
    function other(times, i, k) {
      return k >= 0 ? k : times.reduce(function (best, v, at) { return v > 0 && at !== i && !(times[best] <= v) ? at : best; }, -1);
    }
    // "faster", "slower"; "tie" where their intervals meet, "" where one has none.
    function word(c, i, o) {
      var near = c.times[i] <= c.times[o] ? i : o, far = near === i ? o : i;
      if (i === o) return "";
      if (c.ends[i].length < 2 || c.ends[o].length < 2) return "no interval";
      return c.times[near] * (1 + c.ends[near][1] / 1e4) >= c.times[far] * (1 - c.ends[far][0] / 1e4) ? "tie" : near === i ? "faster" : "slower";
    }
    return function () {
      [[a, "of"], [b, "over"]].forEach(function (c) { c[0].value = KS.get(c[1]); if (c[0].selectedIndex < 0) c[0].value = ""; });
      var i = names.indexOf(a.value), k = names.indexOf(b.value);
      b.disabled = i < 0;
      note.textContent = i < 0 ? told : "How many times as fast " + a.value + " is as " + (k < 0 ? "the best other" : b.value) + ". Blue: faster. Orange: slower. A tie: their intervals meet.";
      cells.forEach(function (c) {
        var o = i < 0 ? -1 : other(c.times, i, k), r = o < 0 || !(c.times[i] > 0) ? NaN : c.times[o] / c.times[i], said = r > 0 ? word(c, i, o) : "", step = Math.abs(Math.log(r)), level = step < 0.02 ? 0 : step < 0.095 ? 1 : step < 0.4 ? 2 : 3;
        c.link.textContent = i < 0 ? c.name : r > 0 ? r.toFixed(2) + "\u00d7" : "\u2013";
        c.lead.textContent = i < 0 ? c.ahead : said;
        c.td.className = i < 0 ? c.look : said === "faster" || said === "slower" ? "map-" + (r >= 1 ? 0 : 1) + "-" + level : "";
      });
    };
  });

  function restore() {
    if (select.value !== KS.get("metric") || !select.dataset.shown) {
      select.value = KS.get("metric");
      if (select.selectedIndex < 0) select.value = "";
      select.dataset.shown = "1";
      if (select.value || shown) showMetric();
    }
    maps.forEach(function (m) { m(); });
  }
  select.append(new Option("Time", ""));
  metrics.filter(known).forEach(function (m) { select.append(new Option(m.title, m.key)); });
  tools.hidden = select.options.length < 2;
  select.addEventListener("change", function () { KS.set("metric", select.value); showMetric(); });
  KS.on(restore);
  restore();
})();
