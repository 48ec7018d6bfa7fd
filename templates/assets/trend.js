// The trend of a series: line and interval, change points, other series laid over it, one night pinned by click or arrow keys (panel.js tells of it).
(function () {
  "use strict";
  var figure = document.getElementById("chart"), main = figure && KD.series(figure.dataset.series);
  if (!main || !main.points.length || !window.Chart) return;
  var canvas = document.getElementById("canvas"), tools = document.getElementById("tools");
  var divisor = +figure.dataset.divisor, unit = figure.dataset.unit, colours = ["--c1", "--c2", "--c3", "--c4", "--text"];
  var names = { revisions: KD.get("revisions"), nights: KD.get("nights"), environments: KD.get("environments") };
  var MODES = { abs: unit, pct: "% of the first night shown", base: "% of the baseline night", roof: "% of the roof" };
  var QUANTITIES = { value: "median", p95: "95th percentile", q75: "upper quartile", q25: "lower quartile", min: "fastest sample" };
  var shown = [main], at = -1, hovered = -1, first = main.points[0].x, last = main.points[main.points.length - 1].x, chart;

  function css(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }
  function two(v) { return (v < 10 ? "0" : "") + v; }
  function day(x) { return new Date(x * 864e5).toISOString().slice(0, 10); }
  function minute(p) { return new Date(p.time * 1000).toISOString().slice(0, 16).replace("T", " "); }
  function number(v) { var a = Math.abs(v); return v.toFixed(a >= 1000 ? 0 : a >= 100 ? 1 : a >= 10 ? 2 : 3); }
  function change(r) { return isFinite(r) ? (r < 0 ? "\u2212" : "+") + Math.abs(r * 100).toFixed(1) + " %" : ""; }

  function mode() { var m = KS.get("mode"); return m === "roof" && !(main.roof > 0) ? "abs" : MODES[m] ? m : "abs"; }
  function quantity() { var q = KS.get("show"); return QUANTITIES[q] ? q : "value"; }
  function isLog() { return KS.get("axis") === "log" && (mode() === "abs" || mode() === "roof"); }

  // Files of years before are loaded where they are asked for; until then half a year is shown.
  var older = (figure.dataset.older || "").split(" ").filter(Boolean), root = document.documentElement.dataset.root;
  var usual = figure.dataset.older ? "180" : "all";
  function wantedRange() { return KS.get("range") || usual; }
  function needsOlder() {
    var r = wantedRange(), from = /^\d{4}-\d\d-\d\d/.exec(r);
    return older.length && (r === "all" || (/^\d+$/.test(r) && last - r < first) || (from && Date.parse(from[0]) / 864e5 < first) || ["night", "base"].some(function (k) { return KS.get(k) && +KS.get(k) < main.points[0].time; }));
  }
  function withPast(then, everything) {
    if (!(everything ? older.length : needsOlder())) return then();
    var files = older.map(function (f) { return root + f; });
    older = [];
    KD.load(files, function () {
      Object.assign(main, KD.series(figure.dataset.series));
      first = main.points[0].x;
      link();
      then();
    });
  }
  // Range: "30" days before the newest night, "all", or "2026-01-02..2026-03-04".
  function bounds() {
    var pair = /^(\d{4}-\d\d-\d\d)\.\.(\d{4}-\d\d-\d\d)$/.exec(wantedRange());
    if (pair) {
      var a = Date.parse(pair[1]) / 864e5, b = Date.parse(pair[2]) / 864e5 + 1;
      if (a < b && b > first && a < last) return [a, b];
    }
    var days = parseInt(wantedRange(), 10);
    return days > 0 ? [Math.max(first, last - days), last] : [first, last];
  }
  function baseline() {
    var time = KS.get("base");
    return main.points.filter(function (p) { return String(p.time) === time; })[0] || main.points[0];
  }
  // What a value is divided by: line, interval and tooltip are all relative to it.
  function scale(s, range) {
    var m = mode();
    if (m === "roof") return function (v) { return s.roof / v * 100; };
    if (m === "abs") return function (v) { return v / divisor; };
    var zero = m === "base" ? baseline().value : (s.points.filter(function (p) { return p.x >= range[0]; })[0] || s.points[0]).value;
    return function (v) { return (v / zero - 1) * 100; };
  }
  function scaled(s, range) {
    var f = scale(s, range), q = quantity();
    return s.points.map(function (p) {
      var y = f(p[q]), plain = q === "value";
      return { x: p.x, y: y, lo: plain ? f(p.lo) : y, hi: plain ? f(p.hi) : y, p: p };
    }).filter(function (o) { return isFinite(o.y); });
  }
  // Never less than 5 % of the median to either side, as in the sparklines.
  function yRange(sets, range) {
    var all = [], lo = Infinity, hi = -Infinity;
    sets.forEach(function (set) {
      set.data.forEach(function (p) {
        if (p.x < range[0] || p.x > range[1]) return;
        all.push(p.y);
        lo = Math.min(lo, p.lo, p.hi);
        hi = Math.max(hi, p.lo, p.hi);
      });
    });
    all.sort(function (a, b) { return a - b; });
    var m = mode(), middle = all.length ? all[all.length >> 1] : 0, half = m === "pct" || m === "base" ? 5 : Math.abs(middle) * 0.05;
    lo = Math.min(lo, middle - half);
    hi = Math.max(hi, middle + half);
    if (isLog()) return [Math.max(lo, 1e-9) / 1.02, hi * 1.02];
    return [lo - (hi - lo) * 0.04, hi + (hi - lo) * 0.04];
  }
  function datasets(range) {
    var off = KS.get("hide").split("\n");
    return shown.map(function (s, i) {
      var colour = css(colours[i]), dense = s.points.length > 200;
      return { label: s.label, data: scaled(s, range), borderColor: colour, backgroundColor: colour, borderWidth: 2, pointRadius: dense ? 0 : 2,
        pointHoverRadius: 5, pointHitRadius: 8, tension: 0, borderDash: i > 3 ? [5, 4] : [], hidden: off.indexOf(s.id || s.label) >= 0, series: s };
    });
  }
  function marks(range) {
    var out = {};
    main.changes.forEach(function (c, i) {
      var worse = (c.after > c.before) === main.lower;
      out["c" + i] = { type: "line", xMin: c.time / 86400, xMax: c.time / 86400, borderColor: css(worse ? "--c2" : "--c3"), borderWidth: 1.5, borderDash: [4, 4],
        label: { display: true, content: String(i + 1), position: "start", yAdjust: (i % 3) * 22, backgroundColor: css("--card"), color: css(worse ? "--bad" : "--good"),
          borderColor: css(worse ? "--c2" : "--c3"), borderWidth: 1, borderRadius: 9, padding: { x: 6, y: 2 }, font: { size: 11 } } };
    });
    // at the top: what is not the code
    main.points.forEach(function (p, i) {
      var env = i && main.points[i - 1].environment !== p.environment, flagged = p.flags & 3;
      if (!env && !flagged) return;
      out["e" + i] = { type: "label", xValue: p.x, yValue: function (c) { return c.chart.scales.y.max; }, yAdjust: 9, content: env ? "\u25c6" : "\u26a0", color: css("--note"), font: { size: 12 }, z: 1 };
    });
    if (at >= 0) out.pin = { type: "line", xMin: main.points[at].x, xMax: main.points[at].x, borderColor: css("--strong-line"), borderWidth: 1.5 };
    if (mode() === "base") out.base = { type: "line", xMin: baseline().x, xMax: baseline().x, borderColor: css("--c1"), borderWidth: 1, borderDash: [1, 3] };
    if (mode() === "abs" && isLog() && main.roof > 0) out.roof = { type: "line", yMin: main.roof / divisor, yMax: main.roof / divisor, borderColor: css("--text"), borderWidth: 1,
      label: { display: true, content: "roof", position: "end", backgroundColor: css("--card"), color: css("--text"), padding: 3, font: { size: 11 } } };
    return out;
  }
  function describe(item) {
    var p = item.raw.p, s = item.dataset.series, i = s.points.indexOf(p), before = s.points[i - 1], q = quantity();
    var text = s.label + ": " + number(p[q] / divisor) + " " + unit + (q === "value" ? p.n > 1 || p.hi > p.lo ? " \u00b1" + ((p.hi - p.lo) / 2 / p.value * 100).toFixed(1) + " %" : "" : " (" + QUANTITIES[q] + ")");
    return before ? text + " (" + change(p[q] / before[q] - 1) + ")" : text;
  }
  function commit(item) {
    var p = item.raw.p, s = item.dataset.series, before = s.points[s.points.indexOf(p) - 1], r = s === main && names.revisions[p.revision], lines = [];
    if (r) lines.push(r[0].slice(0, 12) + (before && before.revision === p.revision ? " (same revision)" : " " + r[1].slice(0, 70)));
    if (before && before.environment !== p.environment) lines.push("environment: " + (names.environments[p.environment] || "changed"));
    if (p.flags & 1) lines.push("throttled");
    if (p.flags & 2) lines.push("unstable");
    if (s.roof > 0) lines.push((s.roof / p.value * 100).toFixed(1) + " % of its roof");
    return lines;
  }
  // Ticks at round times, as many as there is room for, also where nights are minutes apart.
  var STEPS = [1, 2, 5, 10, 30, 60, 120, 360, 720, 1440, 2880, 7200, 14400, 43200, 86400, 259200, 525600, 1051200, 2629800];
  function days(axis) {
    var room = Math.max(2, Math.min(8, canvas.clientWidth / 120 | 0)), span = (axis.max - axis.min) * 1440;
    var step = STEPS.filter(function (s) { return span / s <= room; })[0] || STEPS[STEPS.length - 1], d = step / 1440;
    axis.ticks = [];
    for (var x = Math.ceil(axis.min / d) * d; x <= axis.max; x += d) axis.ticks.push({ value: x });
    axis.fine = d < 1;
  }
  function tick(x) {
    var t = new Date(Math.round(x * 1440) * 6e4);
    return this.fine ? two(t.getUTCMonth() + 1) + "-" + two(t.getUTCDate()) + " " + two(t.getUTCHours()) + ":" + two(t.getUTCMinutes()) : day(x + 1e-6);
  }
  function yTick(v, i, t) {
    var m = mode(), relative = m === "pct" || m === "base";
    if (!isLog() && (i === 0 || i === t.length - 1)) return "";
    return relative ? (Math.abs(v) < 1e-9 ? "0 %" : change(v / 100)) : m === "roof" ? +v.toPrecision(3) + " %" : number(v);
  }
  function options(range, y) {
    var grid = css("--line"), text = css("--muted"), pad = (range[1] - range[0]) * 0.012 || 1 / 48;
    return { animation: false, parsing: false, normalized: true, responsive: true, maintainAspectRatio: false,
      interaction: { mode: "nearest", axis: "x", intersect: false },
      onClick: function (e, hits) { if (hits.length) pick(nightOf(hits[0])); },
      onHover: function (e, hits) { var h = hits.filter(function (x) { return x.datasetIndex === 0; })[0]; hover(h ? nightOf(h) : -1); },
      scales: {
        x: { type: "linear", min: range[0] - pad, max: range[1] + pad, grid: { color: grid }, border: { color: grid },
          afterBuildTicks: days, ticks: { color: text, maxRotation: 0, autoSkip: false, callback: tick } },
        y: { type: isLog() ? "logarithmic" : "linear", min: y[0], max: y[1], grid: { color: grid }, border: { display: false },
          title: { display: true, text: MODES[mode()] + (quantity() === "value" ? "" : ", " + QUANTITIES[quantity()]), color: text },
          ticks: { color: text, maxTicksLimit: 7, callback: yTick } }
      },
      plugins: {
        legend: { display: shown.length > 1, labels: { color: css("--text"), usePointStyle: true, pointStyle: "line" }, onClick: toggle },
        annotation: { annotations: marks(range) },
        tooltip: { backgroundColor: css("--card"), titleColor: css("--text"), bodyColor: css("--text"), footerColor: text, borderColor: css("--strong-line"), borderWidth: 1,
          padding: 10, usePointStyle: true, footerFont: { weight: "normal" },
          callbacks: { title: function (items) { return items.length ? minute(items[0].raw.p) : ""; }, label: describe, footer: function (items) { return items.length ? commit(items[0]) : []; } } },
        zoom: { limits: { x: { min: first - pad, max: last + pad, minRange: Math.min(2, (last - first) / 4 || 1 / 48) } },
          pan: { enabled: true, mode: "x", modifierKey: "shift", onPanComplete: zoomed },
          zoom: { mode: "x", drag: { enabled: true, backgroundColor: css("--quiet-soft"), threshold: 8 }, wheel: { enabled: true, modifierKey: "ctrl" }, pinch: { enabled: true }, onZoomComplete: zoomed } }
      } };
  }
  // A click on the legend hides a line; which ones are hidden is in the address.
  function toggle(e, item) {
    var s = shown[item.datasetIndex], key = s.id || s.label, off = KS.get("hide").split("\n").filter(Boolean);
    KS.set("hide", (off.indexOf(key) >= 0 ? off.filter(function (k) { return k !== key; }) : off.concat(key)).join("\n"));
    draw();
  }
  function zoomed(c) {
    var x = c.chart.scales.x;
    KS.set("range", day(x.min) + ".." + day(x.max));
    draw();
  }
  function draw() {
    var range = bounds(), sets = datasets(range), visible = sets.filter(function (s) { return !s.hidden; }), y = yRange(visible.length ? visible : sets, range), now = wantedRange();
    if (chart) {
      chart.data.datasets = sets;
      chart.options = options(range, y);
      chart.update("none");
    } else {
      figure.querySelector(".canvas").hidden = false;
      figure.querySelector(".drawn").hidden = true;
      chart = new Chart(canvas, { type: "line", data: { datasets: sets }, options: options(range, y), plugins: [KBand] });
    }
    tools.querySelectorAll("[data-range]").forEach(function (b) { b.setAttribute("aria-pressed", b.dataset.range === now); });
    tools.querySelectorAll("[data-mode]").forEach(function (b) { b.setAttribute("aria-pressed", b.dataset.mode === mode()); b.hidden = b.dataset.mode === "roof" && !(main.roof > 0); });
    tools.querySelector("#log").setAttribute("aria-pressed", isLog());
    tools.querySelector("#show").value = quantity();
    figure.dataset.ready = sets.length + " " + mode();
  }

  function nightOf(hit) {
    var o = chart.data.datasets[hit.datasetIndex].data[hit.index];
    return o ? main.points.findIndex(function (p) { return p.time === o.p.time; }) : -1;
  }
  function activate(i) {
    var data = chart.data.datasets[0].data, k = data.findIndex(function (o) { return o.p === main.points[i]; }), e = chart.getDatasetMeta(0).data[k];
    if (k < 0 || !e) return;
    chart.setActiveElements([{ datasetIndex: 0, index: k }]);
    if (figure.clientWidth > 560) chart.tooltip.setActiveElements([{ datasetIndex: 0, index: k }], { x: e.x, y: e.y }); // else it hides what it is about
    chart.update("none");
  }
  // The rows of the table and the points of the chart are the same nights.
  var rows = {};
  function link() {
    rows = {};
    document.querySelectorAll("table.nights tbody tr").forEach(function (tr) {
      var i = main.points.findIndex(function (p) { return String(p.time) === tr.dataset.time; });
      if (i < 0) return;
      rows[i] = tr;
      tr.onmouseenter = function () { activate(i); };
      tr.onmouseleave = function () { chart.setActiveElements([]); chart.tooltip.setActiveElements([], { x: 0, y: 0 }); chart.update("none"); };
    });
  }
  function hover(i) {
    if (i === hovered) return;
    if (rows[hovered]) rows[hovered].classList.remove("linked");
    hovered = i;
    if (rows[i]) rows[i].classList.add("linked");
  }
  function pick(i) {
    if (i < 0 || i >= main.points.length) return;
    at = i;
    KS.set("night", String(main.points[i].time));
    draw();
    activate(i);
    KPanel.show(i);
  }
  function reset() {
    at = -1;
    KPanel.hide();
    ["night", "range"].forEach(function (k) { KS.set(k, ""); });
    chart.setActiveElements([]);
    chart.tooltip.setActiveElements([], { x: 0, y: 0 });
    draw();
  }
  function key(e) {
    var n = main.points.length, from = at < 0 ? n - 1 : at;
    var to = { ArrowLeft: at < 0 ? n - 1 : from - 1, ArrowRight: at < 0 ? n - 1 : from + 1, Home: 0, End: n - 1, PageUp: from - 10, PageDown: from + 10 }[e.key];
    if (e.key === "Escape") reset();
    else if (to === undefined || e.altKey || e.ctrlKey || e.metaKey) return;
    else pick(Math.min(Math.max(to, 0), n - 1));
    e.preventDefault();
  }
  function quoted(text) { return /^[=+\-@\t]/.test(text) || /[",\n]/.test(text) ? '"' + text.replace(/^([=+\-@\t])/, "'$1").replace(/"/g, '""') + '"' : text; }
  function download() {
    var lines = ["time,value,lo,hi,unit,revision,subject"];
    main.points.forEach(function (p) {
      var r = names.revisions[p.revision] || ["", ""];
      lines.push([new Date(p.time * 1000).toISOString().slice(0, 19) + "Z", +p.value.toPrecision(6), +p.lo.toPrecision(6), +p.hi.toPrecision(6), main.unit, quoted(r[0]), quoted(r[1])].join(","));
    });
    var link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([lines.join("\n") + "\n"], { type: "text/csv" }));
    link.download = figure.dataset.series.replace(/[^A-Za-z0-9._-]+/g, "_") + ".csv";
    link.click();
    setTimeout(function () { URL.revokeObjectURL(link.href); }, 1000);
  }

  // The same problem elsewhere: a button lays it over, its files are loaded then.
  var peers = Array.prototype.map.call(document.querySelectorAll("#peers li"), function (li) {
    var button = document.createElement("button");
    button.textContent = "Overlay";
    button.type = "button";
    button.setAttribute("aria-label", "Overlay " + li.dataset.label);
    button.addEventListener("click", function () {
      var on = wanted();
      KS.set("with", (on.indexOf(li.dataset.series) >= 0 ? on.filter(function (id) { return id !== li.dataset.series; }) : on.concat(li.dataset.series)).join("\n"));
      overlay();
    });
    li.append(button);
    return { id: li.dataset.series, label: li.dataset.label, button: button, files: li.dataset.files.split(" ").map(function (f) { return root + f; }) };
  });
  function wanted() { return KS.get("with").split("\n").filter(Boolean).slice(0, 4); }
  function overlay(then) {
    var on = peers.filter(function (p) { return wanted().indexOf(p.id) >= 0; });
    KD.load([].concat.apply([], on.map(function (p) { return p.files; })), function () {
      layOver(on);
      if (then) then();
    });
  }
  function layOver(on) {
    peers.forEach(function (p) { p.button.setAttribute("aria-pressed", on.indexOf(p) >= 0); });
    shown = [main].concat(on.map(function (p) { return Object.assign(KD.series(p.id) || { points: [] }, { label: p.label, id: p.id }); }).filter(function (s) { return s.points.length; }));
    draw();
  }
  function restore() {
    withPast(function () {
      overlay(function () {
        var time = KS.get("night");
        if (time) pick(main.points.findIndex(function (p) { return String(p.time) === time; }));
      });
    });
  }

  tools.hidden = false;
  tools.addEventListener("click", function (e) {
    var b = e.target;
    if (b.dataset.range) KS.set("range", b.dataset.range === usual ? "" : b.dataset.range);
    else if (b.dataset.mode) KS.set("mode", b.dataset.mode === "abs" ? "" : b.dataset.mode);
    else if (b.id === "log") KS.set("axis", isLog() ? "" : "log");
    else if (b.id === "csv") return withPast(download, true);
    else return;
    withPast(overlay);
  });
  tools.querySelector("#show").addEventListener("change", function (e) { KS.set("show", e.target.value === "value" ? "" : e.target.value); draw(); });
  canvas.addEventListener("keydown", key);
  canvas.addEventListener("dblclick", reset);
  addEventListener("themechange", function () { draw(); });
  KPanel.start({ main: main, names: names, divisor: divisor, unit: unit, css: css, number: number, change: change, minute: minute, pick: pick, reset: reset,
    base: function (p) { KS.set("base", p ? String(p.time) : ""); KS.set("mode", p ? "base" : ""); draw(); } });
  KK.add("\u2190", "on the chart: the night before", null, false, "\u2190 \u2192");
  KK.add("Home", "on the chart: the first night, the newest", null, false, "Home End");
  KK.add("l", "logarithmic axis", function () { KS.set("axis", isLog() ? "" : "log"); draw(); });
  KK.add("%", "per cent of the first night", function () { KS.set("mode", mode() === "pct" ? "" : "pct"); draw(); });
  KK.add("Escape", "close the panel, show everything", reset);
  KS.on(restore);
  KNewest({ main: main, names: names, divisor: divisor, unit: unit, number: number, change: change, minute: minute });
  link();
  restore();
})();
