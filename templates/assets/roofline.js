// Rates over intensity, both logarithmic, under the ceilings of the night. A click on a point opens its series.
(function () {
  "use strict";
  var data = KD.get("roofline"), figure = document.getElementById("chart"), root = document.documentElement.dataset.root, chart;
  if (!figure || !window.Chart || !data.points || !data.points.length) return;
  var colours = ["--c1", "--c2", "--c3", "--c4", "--text"], shapes = ["circle", "triangle", "rect", "rectRot", "star"];
  var labels = data.points.map(function (p) { return p.label; }).filter(function (l, i, all) { return all.indexOf(l) === i; });

  function css(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }
  var flat = data.roofs.filter(function (r) { return r.unit === "gflop_per_s"; });
  var top = flat.length ? Math.max.apply(null, flat.map(function (r) { return r.value; })) : 0;
  var bandwidth = Math.max.apply(null, data.roofs.filter(function (r) { return r.unit !== "gflop_per_s"; }).map(function (r) { return r.value; }).concat(0));
  var xs = data.points.map(function (p) { return p.x; }).concat(top && bandwidth ? top / bandwidth : []), ys = data.points.map(function (p) { return p.y; }).concat(top || []);
  var x = [Math.min.apply(null, xs) / 4, Math.max.apply(null, xs) * 2], y = [Math.min.apply(null, ys) / 2, Math.max.apply(null, ys) * 1.6];
  var big = y[1] > 1e4, divisor = big ? 1000 : 1, unit = big ? " TFLOP/s" : " GFLOP/s";

  function roof(r) {
    var slope = r.unit !== "gflop_per_s", measured = r.source === "measured";
    var ends = slope ? [x[0], Math.min(x[1], (top || y[1]) / r.value)].map(function (v) { return { x: v, y: v * r.value }; }) : [{ x: bandwidth ? Math.max(x[0], r.value / bandwidth) : x[0], y: r.value }, { x: x[1], y: r.value }];
    return { type: "line", label: r.name + (slope ? " " + (+r.value.toPrecision(3)) + " GB/s" : " " + (+(r.value / divisor).toPrecision(3)) + unit) + (measured ? "" : " (datasheet)"),
      data: ends, borderColor: css(measured ? "--text" : "--muted"), borderWidth: measured ? 1.5 : 1, borderDash: measured ? [] : [6, 5], pointRadius: 0, pointHitRadius: 0, pointStyle: "line" };
  }
  function points(label, i) {
    return { label: label, data: data.points.filter(function (p) { return p.label === label; }), borderColor: css(colours[i % 5]), backgroundColor: css(colours[i % 5]),
      pointStyle: shapes[i % 5], pointRadius: 5, pointHoverRadius: 8, showLine: false };
  }
  function axis(range, title, by) {
    var text = css("--muted"), line = css("--line");
    var narrow = range[1] / range[0] < 300;
    function decade(v) {
      var l = Math.log10(v / by), rest = Math.pow(10, l - Math.floor(l + 1e-9));
      return Math.abs(rest - 1) < 1e-6 || (narrow && (Math.abs(rest - 2) < 1e-6 || Math.abs(rest - 5) < 1e-6));
    }
    return { type: "logarithmic", min: range[0], max: range[1], grid: { color: function (c) { return c.tick && decade(c.tick.value) ? line : "transparent"; } }, border: { color: css("--line") }, title: { display: true, text: title, color: text },
      ticks: { color: text, maxRotation: 0, callback: function (v) { return decade(v) ? (+(v / by).toPrecision(1)).toLocaleString("en") : ""; } } };
  }
  function draw() {
    var config = { type: "scatter", data: { datasets: labels.map(points).concat(data.roofs.map(roof)) }, options: {
      animation: false, parsing: false, responsive: true, maintainAspectRatio: false, interaction: { mode: "nearest", intersect: true },
      onClick: function (e, hits) { var p = hits[0] && hits[0].element.$context.raw; if (p && p.href) location.href = root + p.href; },
      scales: { x: axis(x, "FLOP per byte", 1), y: axis(y, unit.trim(), divisor) },
      plugins: { legend: { position: "bottom", labels: { color: css("--text"), usePointStyle: true, boxWidth: 8, boxHeight: 8, padding: 14 } },
        tooltip: { backgroundColor: css("--card"), titleColor: css("--text"), bodyColor: css("--text"), borderColor: css("--strong-line"), borderWidth: 1, padding: 10, usePointStyle: true,
          filter: function (item) { return !!item.raw.title; },
          callbacks: { title: function (items) { return items.length ? items[0].raw.title : ""; }, label: function (item) {
            var p = item.raw;
            return p.label + ": " + (+(p.y / divisor).toPrecision(4)) + unit + (p.share ? ", " + (p.share * 100).toFixed(p.share < 0.1 ? 1 : 0) + " % of its roof" : "");
          } } } } } };
    if (chart) chart.destroy();
    chart = new Chart(document.getElementById("canvas"), config);
    figure.dataset.ready = String(data.points.length);
  }
  figure.querySelector(".canvas").hidden = false;
  figure.querySelector(".drawn-plain").hidden = true;
  addEventListener("themechange", draw);
  draw();
})();
