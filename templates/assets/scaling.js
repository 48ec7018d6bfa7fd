// How the rate of every backend goes with the size of the problem: one chart for each sweep, read from the table that follows. A pointer over one chart
// shows the same size on all of the page.
(function () {
  "use strict";
  var css = KM.css, CHARTS = 6, all = [], metric = null; // null: the rate, else { title, at, text } of kernel.js
  var whiskers = { id: "whiskers", afterDatasetsDraw: function (chart) {
    var ctx = chart.ctx, y = chart.scales.y;
    chart.data.datasets.forEach(function (set, i) {
      if (!chart.isDatasetVisible(i)) return;
      ctx.strokeStyle = set.borderColor;
      chart.getDatasetMeta(i).data.forEach(function (e, k) {
        var p = set.data[k], a = y.getPixelForValue(p.lo), b = y.getPixelForValue(p.hi);
        if (Math.abs(a - b) < 6) return; // within the mark
        ctx.beginPath();
        ctx.moveTo(e.x, a); ctx.lineTo(e.x, b);
        ctx.moveTo(e.x - 3, a); ctx.lineTo(e.x + 3, a);
        ctx.moveTo(e.x - 3, b); ctx.lineTo(e.x + 3, b);
        ctx.stroke();
      });
    });
  } };
  // sweeps of one section: name -> backend -> points
  function read(section) {
    var heads = Array.prototype.map.call(section.querySelectorAll("table.compare thead th.num"), function (th) { return th.textContent.trim(); }), sweeps = {};
    section.querySelectorAll("table.compare tbody tr[data-x]").forEach(function (tr) {
      var sweep = sweeps[tr.dataset.sweep] = sweeps[tr.dataset.sweep] || {};
      var title = tr.cells[0].firstChild.textContent.trim(), x = +tr.dataset.x;
      Array.prototype.slice.call(tr.cells, 1).forEach(function (td, i) {
        var v = (td.dataset.rate || "").split(" ").map(Number);
        if (metric) v = [metric.of(td)].concat(metric.of(td), metric.of(td));
        if (v.length === 3 && v[0] > 0) (sweep[heads[i]] = sweep[heads[i]] || []).push({ x: x, y: v[0], lo: v[1], hi: v[2], title: title });
      });
    });
    return { heads: heads, sweeps: sweeps };
  }
  function sizes(sweep) {
    var seen = {};
    Object.keys(sweep).forEach(function (b) { sweep[b].forEach(function (p) { seen[p.x] = 1; }); });
    return Object.keys(seen).map(Number).sort(function (a, b) { return a - b; });
  }
  // Several batches have one length: the fastest of them.
  function best(points) {
    var at = {};
    points.forEach(function (p) { if (!at[p.x] || (metric ? at[p.x].y > p.y : at[p.x].y < p.y)) at[p.x] = p; });
    return Object.keys(at).map(function (x) { return at[x]; }).sort(function (a, b) { return a.x - b.x; });
  }
  function options(x, name, most, link) {
    var text = css("--muted"), grid = css("--line"), big = most > 3000, by = big ? 1000 : 1;
    return { animation: false, parsing: false, responsive: true, maintainAspectRatio: false, interaction: { mode: "x", intersect: false }, onHover: link,
      scales: {
        x: { type: "logarithmic", min: x[0] / 1.15, max: x[x.length - 1] * 1.15, grid: { color: grid }, title: { display: true, text: name, color: text },
          afterBuildTicks: function (axis) {
            var last = 0, apart = Math.pow(x[x.length - 1] / x[0], 1 / 7);
            axis.ticks = x.filter(function (v) { if (last && v / last < apart) return false; last = v; return true; }).map(function (v) { return { value: v }; });
          },
          ticks: { color: text, maxRotation: 0, autoSkip: true, callback: function (v) { return String(Math.round(v)); } } },
        y: { beginAtZero: true, grid: { color: grid }, border: { display: false }, title: { display: true, text: metric ? metric.title : big ? "TFLOP/s" : "GFLOP/s", color: text }, type: metric ? "logarithmic" : "linear",
          ticks: { color: text, maxTicksLimit: 6, callback: function (v) { return metric ? metric.text(v) : +(v / by).toPrecision(3); } } } },
      plugins: { legend: { labels: { color: css("--text"), usePointStyle: true, boxHeight: 7 } },
        tooltip: { backgroundColor: css("--card"), titleColor: css("--text"), bodyColor: css("--text"), borderColor: css("--strong-line"), borderWidth: 1, padding: 10, usePointStyle: true,
          callbacks: { title: function (items) { return items.length ? items[0].raw.title : ""; }, label: function (i) { return i.dataset.label + ": " + (metric ? metric.text(i.raw.y) : (i.raw.y / by).toPrecision(4) + (big ? " TFLOP/s" : " GFLOP/s")); } } } } };
  }
  function build(holder) {
    var data = read(holder.closest("section")), charts = [], long = {}, names = Object.keys(data.sweeps);
    names.forEach(function (n) { long[n] = sizes(data.sweeps[n]).length; });
    names = names.filter(function (n) { return long[n] > 2; }).sort(function (a, b) { return long[b] - long[a]; });
    function link(from) {
      return function (e, hits) {
        var at = hits.length ? from.data.datasets[hits[0].datasetIndex].data[hits[0].index].x : null;
        all.forEach(function (c) {
          if (c === from) return;
          var active = [];
          c.data.datasets.forEach(function (set, d) { set.data.forEach(function (p, i) { if (p.x === at) active.push({ datasetIndex: d, index: i }); }); });
          c.setActiveElements(active);
          c.tooltip.setActiveElements(active, active.length ? c.getDatasetMeta(active[0].datasetIndex).data[active[0].index].getProps(["x", "y"]) : { x: 0, y: 0 });
          c.update("none");
        });
      };
    }
    names.slice(0, CHARTS).forEach(function (n) {
      var figure = document.createElement("figure"), frame = document.createElement("div"), canvas = document.createElement("canvas"), caption = document.createElement("figcaption");
      var sweep = data.sweeps[n], x = sizes(sweep), most = 0;
      figure.className = "chart";
      frame.className = "small-canvas";
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", (metric ? metric.title : "Rate") + " over size, " + n + ". The table below has every value.");
      caption.className = "muted";
      caption.textContent = n + (data.heads.some(function (h) { return (sweep[h] || []).length > best(sweep[h] || []).length; }) ? " \u00b7 of problems of one size the " + (metric ? "least" : "fastest") : "");
      frame.append(canvas);
      figure.append(frame, caption);
      holder.append(figure);
      later(frame, function () {
        var sets = data.heads.map(function (h, i) {
          var points = best(sweep[h] || []);
          points.forEach(function (p) { most = Math.max(most, p.y); });
          return Object.assign(KM.style(i), { label: h, data: points, borderWidth: 2, pointRadius: 4, pointHoverRadius: 7, tension: 0 });
        }).filter(function (s) { return s.data.length; });
        var chart = new Chart(canvas, { type: "line", data: { datasets: sets }, options: options(x, holder.dataset.xName, most), plugins: [whiskers] });
        chart.options.onHover = link(chart);
        charts.push(chart);
        all.push(chart);
      });
    });
    holder.hidden = !names.length;
    holder.dataset.ready = String(Math.min(names.length, CHARTS));
  }
  // A chart is drawn when it comes near the screen, and before the page is printed.
  var waiting = new Map(), seen = new IntersectionObserver(function (entries) {
    entries.forEach(function (e) { if (e.isIntersecting) drawNow(e.target); });
  }, { rootMargin: "50px" });
  function later(frame, run) {
    waiting.set(frame, run);
    seen.observe(frame);
  }
  function drawNow(frame) {
    var run = waiting.get(frame);
    seen.unobserve(frame);
    waiting.delete(frame);
    if (run) run();
  }
  addEventListener("beforeprint", function () { Array.from(waiting.keys()).forEach(drawNow); });
  function rebuild() {
    seen.disconnect();
    waiting.clear();
    all.splice(0).forEach(function (c) { c.destroy(); });
    document.querySelectorAll(".scaling").forEach(function (h) { h.textContent = ""; h.hidden = false; build(h); });
  }
  addEventListener("themechange", rebuild);
  addEventListener("metricchange", function (e) { metric = e.detail; rebuild(); });
  rebuild();
})();
