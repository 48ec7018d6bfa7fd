// One night of a series, pinned beside its chart: values, commits, environment, run, and its samples as a distribution.
window.KPanel = (function () {
  "use strict";
  var c, box = document.getElementById("picked"), root = document.documentElement.dataset.root, chart;
  function el(tag, text, href) {
    var e = document.createElement(tag);
    e.textContent = text;
    if (href) e.href = href;
    return e;
  }
  function fact(list, name, parts) {
    var dd = document.createElement("dd");
    dd.append.apply(dd, [].concat(parts));
    list.append(el("dt", name), dd);
  }
  // The commits between two revisions, where the forge of the newer one has a page for them.
  function range(before, p) {
    var a = before && c.names.revisions[before.revision], b = c.names.revisions[p.revision], forge = b && /^(.*\/)commit\/[^/]+$/.exec(b[2]);
    return a && forge && a !== b && a[2].indexOf(forge[1]) === 0 ? forge[1] + "compare/" + a[0] + "..." + b[0] : "";
  }
  function button(text, run) {
    var b = el("button", text);
    b.type = "button";
    b.className = "plain";
    b.addEventListener("click", run);
    return b;
  }
  function values(list, p, before) {
    var s = c.main, u = " " + c.unit;
    fact(list, "Median", [el("b", c.number(p.value / c.divisor) + u), before ? " \u00b7 " + c.change(p.value / before.value - 1) + " to the night before" : ""]);
    fact(list, "Interval", c.number(p.lo / c.divisor) + " to " + c.number(p.hi / c.divisor) + u + " (95 %)");
    if (p.n) fact(list, "Samples", String(p.n));
    if (isFinite(p.q25)) fact(list, "Quartiles", c.number(p.q25 / c.divisor) + ", " + c.number(p.q75 / c.divisor) + u);
    if (isFinite(p.p95)) fact(list, "95th percentile", c.number(p.p95 / c.divisor) + u + (isFinite(p.min) ? ", fastest " + c.number(p.min / c.divisor) : ""));
    if (s.roof > 0) fact(list, "Of its roof", (s.roof / p.value * 100).toFixed(1) + " %");
  }
  function origin(list, p, before) {
    var r = c.names.revisions[p.revision], commits = range(before, p), night = (c.names.nights.page || {})[p.night];
    if (r) fact(list, "Commit", [r[3] ? el("a", r[0].slice(0, 12), root + r[3]) : r[2] ? el("a", r[0].slice(0, 12), r[2]) : r[0].slice(0, 12), " " + r[1], before && before.revision === p.revision ? " (as the night before)" : ""]);
    if (commits) fact(list, "Since", el("a", "commits since the night before", commits));
    else if (r && r[2] && r[3]) fact(list, "Forge", el("a", "the commit at its forge", r[2]));
    if (before && before.environment !== p.environment) fact(list, "Environment", c.names.environments[p.environment] || "changed");
    if (p.flags & 3) fact(list, "Flags", [p.flags & 1 ? "throttled " : "", p.flags & 2 ? "unstable" : ""]);
    if (p.run) fact(list, "Run", [night ? el("a", "night of " + c.minute(p), root + night) : "", night ? " \u00b7 " : "", el("code", "tracker show " + p.run)]);
    else if (night) fact(list, "Night", el("a", c.minute(p), root + night));
  }
  function steps(samples) {
    return samples.map(function (v, i) { return { x: v / c.divisor, y: (i + 1) / samples.length * 100 }; });
  }
  // The distribution of the samples, over that of the night before.
  function ecdf(holder, p, before) {
    var sets = [];
    [[before, "--c2", "night before"], [p, "--c1", "this night"]].forEach(function (o) {
      var samples = o[0] && c.main.samples[o[0].run];
      if (samples) sets.push({ label: o[2], data: steps(samples), borderColor: c.css(o[1]), backgroundColor: c.css(o[1]), stepped: true, pointRadius: 0, borderWidth: 2 });
    });
    if (chart) chart.destroy();
    chart = null;
    if (!sets.length) return;
    var canvas = document.createElement("canvas"), frame = document.createElement("div"), grid = c.css("--line"), text = c.css("--muted");
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", "Distribution of the samples: share of them that took at most so long. Quartiles are in the list.");
    frame.className = "ecdf";
    frame.append(canvas);
    holder.append(frame);
    chart = new Chart(canvas, { type: "line", data: { datasets: sets }, options: { animation: false, parsing: false, responsive: true, maintainAspectRatio: false, interaction: { mode: "nearest", axis: "x", intersect: false },
      scales: { x: { type: "linear", grid: { color: grid }, title: { display: true, text: c.unit, color: text }, ticks: { color: text, maxTicksLimit: 5, maxRotation: 0, callback: function (v) { return c.number(v); } } },
        y: { min: 0, max: 100, grid: { color: grid }, title: { display: true, text: "% of the samples", color: text }, ticks: { color: text, stepSize: 25 } } },
      plugins: { legend: { labels: { color: c.css("--text"), usePointStyle: true, pointStyle: "line" } }, zoom: false, annotation: false, tooltip: { enabled: false } } } });
  }
  function show(i) {
    var p = c.main.points[i], before = c.main.points[i - 1], head = document.createElement("div"), body = document.createElement("div"), list = document.createElement("dl");
    box.textContent = "";
    head.className = "panel-head";
    head.append(el("h3", "Night of " + c.minute(p)), button("\u2190 Earlier", function () { c.pick(i - 1); }), button("Later \u2192", function () { c.pick(i + 1); }),
      button("Use as baseline", function () { c.base(p); }), button("Close", c.reset));
    body.className = "panel-body";
    list.className = "facts";
    values(list, p, before);
    origin(list, p, before);
    body.append(list);
    box.append(head, body);
    box.hidden = false;
    ecdf(body, p, before);
    box.dataset.samples = chart ? chart.data.datasets.length : 0;
  }
  return {
    start: function (context) { c = context; },
    show: show,
    hide: function () { box.hidden = true; if (chart) chart.destroy(); chart = null; }
  };
})();
