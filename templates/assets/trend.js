// The trend of a series: line and interval, change points, other series laid over it, one night picked by hover, click or arrow keys.
(function () {
  "use strict";
  var figure = document.getElementById("chart"), root = document.documentElement.dataset.root, main = figure && KD.series(figure.dataset.series);
  if (!main || !main.points.length || !window.Chart) return;
  var canvas = document.getElementById("canvas"), picked = document.getElementById("picked"), tools = document.getElementById("tools");
  var divisor = +figure.dataset.divisor, unit = figure.dataset.unit, colours = ["--c1", "--c2", "--c3", "--c4", "--text"];
  var names = { revisions: KD.get("revisions"), nights: KD.get("nights"), environments: KD.get("environments") };
  var shown = [main], mode = KS.get("mode") === "pct" ? "pct" : "abs", at = -1;
  var first = main.points[0].x, last = main.points[main.points.length - 1].x, chart;

  function css(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }
  function day(x) { return new Date(x * 864e5).toISOString().slice(0, 10); }
  function minute(p) { return new Date(p.time * 1000).toISOString().slice(0, 16).replace("T", " "); }
  function number(v) { var a = Math.abs(v); return v.toFixed(a >= 1000 ? 0 : a >= 100 ? 1 : a >= 10 ? 2 : 3); }
  function change(r) { return isFinite(r) ? (r < 0 ? "\u2212" : "+") + Math.abs(r * 100).toFixed(1) + " %" : ""; }
  function el(tag, text, href) {
    var e = document.createElement(tag);
    e.textContent = text;
    if (href) e.href = href;
    return e;
  }

  // Range: "30" days before the newest night, "all", or "2026-01-02..2026-03-04".
  function bounds() {
    var range = KS.get("range"), pair = /^(\d{4}-\d\d-\d\d)\.\.(\d{4}-\d\d-\d\d)$/.exec(range);
    if (pair) {
      var a = Date.parse(pair[1]) / 864e5, b = Date.parse(pair[2]) / 864e5 + 1;
      if (a < b && b > first && a < last) return [a, b];
    }
    var days = parseInt(range, 10);
    return days > 0 ? [Math.max(first, last - days), last] : [first, last];
  }
  function base(s, range) {
    var from = s.points.filter(function (p) { return p.x >= range[0]; })[0] || s.points[0];
    return from.value;
  }
  // In per cent, line, interval and tooltip are all relative to the first night in sight.
  function scaled(s, range) {
    var zero = base(s, range), f = mode === "pct" ? function (v) { return (v / zero - 1) * 100; } : function (v) { return v / divisor; };
    return s.points.map(function (p) { return { x: p.x, y: f(p.value), lo: f(p.lo), hi: f(p.hi), p: p }; });
  }
  // Never less than 5 % of the median to either side, as in the sparklines.
  function yRange(sets, range) {
    var all = [], lo = Infinity, hi = -Infinity;
    sets.forEach(function (set) {
      set.data.forEach(function (p) {
        if (p.x < range[0] || p.x > range[1]) return;
        all.push(p.y);
        lo = Math.min(lo, p.lo);
        hi = Math.max(hi, p.hi);
      });
    });
    all.sort(function (a, b) { return a - b; });
    var middle = all.length ? all[all.length >> 1] : 0, half = mode === "pct" ? 5 : Math.abs(middle) * 0.05;
    lo = Math.min(lo, middle - half);
    hi = Math.max(hi, middle + half);
    return [lo - (hi - lo) * 0.04, hi + (hi - lo) * 0.04];
  }
  function datasets(range) {
    return shown.map(function (s, i) {
      var colour = css(colours[i]), dense = s.points.length > 200;
      return { label: s.label, data: scaled(s, range), borderColor: colour, backgroundColor: colour, borderWidth: 2, pointRadius: dense ? 0 : 2,
        pointHoverRadius: 5, pointHitRadius: 8, tension: 0, borderDash: i > 3 ? [5, 4] : [], series: s };
    });
  }
  function marks() {
    var out = {};
    main.changes.forEach(function (c, i) {
      var worse = (c.after > c.before) === main.lower;
      out["c" + i] = { type: "line", xMin: c.time / 86400, xMax: c.time / 86400, borderColor: css(worse ? "--c2" : "--c3"), borderWidth: 1.5, borderDash: [4, 4],
        label: { display: true, content: String(i + 1), position: "start", yAdjust: (i % 3) * 22, backgroundColor: css("--card"), color: css(worse ? "--bad" : "--good"),
          borderColor: css(worse ? "--c2" : "--c3"), borderWidth: 1, borderRadius: 9, padding: { x: 6, y: 2 }, font: { size: 11 } } };
    });
    return out;
  }
  function describe(item) {
    var p = item.raw.p, s = item.dataset.series, i = s.points.indexOf(p), before = s.points[i - 1];
    var text = s.label + ": " + number(p.value / divisor) + " " + unit + " \u00b1" + ((p.hi - p.lo) / 2 / p.value * 100).toFixed(1) + " %";
    return before ? text + " (" + change(p.value / before.value - 1) + ")" : text;
  }
  function commit(item) {
    var p = item.raw.p, s = item.dataset.series, before = s.points[s.points.indexOf(p) - 1], r = s === main && names.revisions[p.revision], lines = [];
    if (r) lines.push(r[0].slice(0, 12) + (before && before.revision === p.revision ? " (same revision)" : " " + r[1].slice(0, 70)));
    if (before && before.environment !== p.environment) lines.push("environment: " + (names.environments[p.environment] || "changed"));
    if (p.flags & 1) lines.push("throttled");
    if (p.flags & 2) lines.push("unstable");
    return lines;
  }
  // Ticks at midnights, as many as there is room for.
  function days(axis) {
    var step = Math.max(1, Math.ceil((axis.max - axis.min) / Math.max(2, Math.min(8, canvas.clientWidth / 120 | 0))));
    axis.ticks = [];
    for (var x = Math.ceil(axis.min + step * 0.3); x <= axis.max - step * 0.3; x += step) axis.ticks.push({ value: x });
  }
  function options(range, y) {
    var grid = css("--line"), text = css("--muted"), pad = (range[1] - range[0]) * 0.012 || 1;
    return { animation: false, parsing: false, normalized: true, responsive: true, maintainAspectRatio: false,
      interaction: { mode: "nearest", axis: "x", intersect: false },
      onClick: function (e, hits) { if (hits.length) pick(main.points.indexOf(hits[0].element.$context.raw.p)); },
      scales: {
        x: { type: "linear", min: range[0] - pad, max: range[1] + pad, grid: { color: grid }, border: { color: grid },
          afterBuildTicks: days, ticks: { color: text, maxRotation: 0, autoSkip: false, callback: day } },
        y: { min: y[0], max: y[1], grid: { color: grid }, border: { display: false }, title: { display: true, text: mode === "pct" ? "% of the first night shown" : unit, color: text },
          ticks: { color: text, maxTicksLimit: 7, callback: function (v, i, t) { return i === 0 || i === t.length - 1 ? "" : mode === "pct" ? (Math.abs(v) < 1e-9 ? "0 %" : change(v / 100)) : number(v); } } }
      },
      plugins: {
        legend: { display: shown.length > 1, labels: { color: css("--text"), usePointStyle: true, pointStyle: "line" } },
        annotation: { annotations: marks() },
        tooltip: { backgroundColor: css("--card"), titleColor: css("--text"), bodyColor: css("--text"), footerColor: text, borderColor: css("--strong-line"), borderWidth: 1,
          padding: 10, usePointStyle: true, footerFont: { weight: "normal" },
          callbacks: { title: function (items) { return items.length ? minute(items[0].raw.p) : ""; }, label: describe, footer: function (items) { return items.length ? commit(items[0]) : []; } } },
        zoom: { limits: { x: { min: first - pad, max: last + pad, minRange: 2 } },
          pan: { enabled: true, mode: "x", modifierKey: "shift", onPanComplete: zoomed },
          zoom: { mode: "x", drag: { enabled: true, backgroundColor: css("--quiet-soft"), threshold: 8 }, wheel: { enabled: true, modifierKey: "ctrl" }, pinch: { enabled: true }, onZoomComplete: zoomed } }
      } };
  }
  function zoomed(c) {
    var x = c.chart.scales.x;
    KS.set("range", day(x.min) + ".." + day(x.max));
    draw();
  }
  function draw() {
    var range = bounds(), sets = datasets(range), y = yRange(sets, range), now = KS.get("range") || "all";
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
    tools.querySelectorAll("[data-mode]").forEach(function (b) { b.setAttribute("aria-pressed", b.dataset.mode === mode); });
    figure.dataset.ready = sets.length + " " + mode;
  }

  // One night, told in words and links below the chart.
  // The commits between two revisions, where the forge of the newer one has a page for them.
  function range(before, p) {
    var a = before && names.revisions[before.revision], b = names.revisions[p.revision], forge = b && /^(.*\/)commit\/[^/]+$/.exec(b[2]);
    return a && forge && a !== b && a[2].indexOf(forge[1]) === 0 ? forge[1] + "compare/" + a[0] + "..." + b[0] : "";
  }
  function pick(i) {
    if (i < 0 || i >= main.points.length) return;
    at = i;
    var p = main.points[i], before = main.points[i - 1], r = names.revisions[p.revision], night = names.nights[p.night];
    picked.textContent = "";
    picked.append(night ? el("a", minute(p), root + night) : minute(p), " \u00b7 " + number(p.value / divisor) + " " + unit + ", interval " + number(p.lo / divisor) + " to " + number(p.hi / divisor));
    if (before) picked.append(" \u00b7 " + change(p.value / before.value - 1) + " to the night before");
    if (r) picked.append(" \u00b7 ", r[2] ? el("a", r[0].slice(0, 12), r[2]) : r[0].slice(0, 12), " " + r[1]);
    var commits = range(before, p);
    if (commits) picked.append(" \u00b7 ", el("a", "commits since the night before", commits));
    if (before && before.environment !== p.environment) picked.append(" \u00b7 environment: " + (names.environments[p.environment] || "changed"));
    picked.hidden = false;
    KS.set("night", String(p.time));
    var active = [{ datasetIndex: 0, index: i }], e = chart.getDatasetMeta(0).data[i];
    chart.setActiveElements(active);
    chart.tooltip.setActiveElements(active, { x: e.x, y: e.y });
    chart.update("none");
  }
  function reset() {
    at = -1;
    picked.hidden = true;
    KS.set("night", "");
    KS.set("range", "");
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
    var rows = ["time,value,lo,hi,unit,revision,subject"];
    main.points.forEach(function (p) {
      var r = names.revisions[p.revision] || ["", ""];
      rows.push([new Date(p.time * 1000).toISOString().slice(0, 19) + "Z", +p.value.toPrecision(6), +p.lo.toPrecision(6), +p.hi.toPrecision(6), main.unit, quoted(r[0]), quoted(r[1])].join(","));
    });
    var link = el("a", "", URL.createObjectURL(new Blob([rows.join("\n") + "\n"], { type: "text/csv" })));
    link.download = figure.dataset.series.replace(/[^A-Za-z0-9._-]+/g, "_") + ".csv";
    link.click();
    setTimeout(function () { URL.revokeObjectURL(link.href); }, 1000);
  }

  // The same problem elsewhere: a button lays it over. Which files that takes, the page says.
  var peers = Array.prototype.map.call(document.querySelectorAll("#peers li"), function (li) {
    var button = el("button", "Overlay");
    button.type = "button";
    button.setAttribute("aria-label", "Overlay " + li.dataset.label);
    button.addEventListener("click", function () {
      var on = wanted();
      KS.set("with", (on.indexOf(li.dataset.series) >= 0 ? on.filter(function (id) { return id !== li.dataset.series; }) : on.concat(li.dataset.series)).join("\n"));
      overlay();
    });
    li.append(button);
    return { id: li.dataset.series, files: li.dataset.files.split(" "), label: li.dataset.label, button: button };
  });
  function wanted() { return KS.get("with").split("\n").filter(Boolean).slice(0, 4); }
  function overlay() {
    var on = peers.filter(function (p) { return wanted().indexOf(p.id) >= 0; });
    var missing = on.filter(function (p) { return !KD.series(p.id); }).reduce(function (a, p) { return a.concat(p.files.map(function (f) { return root + f; })); }, []);
    peers.forEach(function (p) { p.button.setAttribute("aria-pressed", on.indexOf(p) >= 0); });
    function ready() {
      shown = [main].concat(on.map(function (p) { return Object.assign(KD.series(p.id) || { points: [] }, { label: p.label }); }).filter(function (s) { return s.points.length; }));
      draw();
    }
    if (missing.length) KD.load(missing, ready); else ready();
  }
  function restore() {
    mode = KS.get("mode") === "pct" ? "pct" : "abs";
    overlay();
    var time = KS.get("night");
    if (time) pick(main.points.findIndex(function (p) { return String(p.time) === time; }));
  }

  tools.hidden = false;
  tools.addEventListener("click", function (e) {
    var b = e.target;
    if (b.dataset.range) KS.set("range", b.dataset.range === "all" ? "" : b.dataset.range);
    else if (b.dataset.mode) KS.set("mode", b.dataset.mode === "pct" ? "pct" : "");
    else if (b.id === "csv") return download();
    else return;
    mode = KS.get("mode") === "pct" ? "pct" : "abs";
    draw();
  });
  canvas.addEventListener("keydown", key);
  canvas.addEventListener("dblclick", reset);
  addEventListener("themechange", function () { draw(); });
  KS.on(restore);
  draw();
  restore();
})();
