// Rates over intensity, both logarithmic, under the ceilings of the night. A click on a point opens its series; its trail are the nights before. Type and
// kernel are chosen above; the roofs of other types go with them. What is chosen is in the address.
(function () {
  "use strict";
  var data = KD.get("roofline"), figure = document.getElementById("chart"), tools = document.getElementById("tools"), root = document.documentElement.dataset.root, chart;
  if (!figure || !window.Chart || !data.points || !data.points.length) return;
  var css = KM.css, labels = data.points.map(function (p) { return p.label; }).filter(function (l, i, all) { return all.indexOf(l) === i; }).sort();
  var big, divisor, unit, choices = {};

  function wanted(p) { return ["type", "op"].every(function (k) { return !choices[k] || !choices[k].value || p[k] === choices[k].value; }); }
  function isRate(r) { return r.unit === "gflop_per_s"; }
  function most(list) { return list.reduce(function (m, r) { return Math.max(m, r.value); }, 0); }
  // Rates of the types that are seen, and the highest where one of them has none; all of the memory.
  function roofs(points) {
    var rates = data.roofs.filter(isRate), types = points.map(function (p) { return p.type; });
    var seen = rates.filter(function (r) { return types.indexOf(r.name) >= 0; });
    var bare = types.some(function (t) { return !rates.some(function (r) { return r.name === t; }); });
    if (bare && rates.length) {
      var measured = rates.filter(function (r) { return r.source === "measured"; }), from = measured.length ? measured : rates, top = from.filter(function (r) { return r.value === most(from); })[0];
      if (seen.indexOf(top) < 0) seen.push(top);
    }
    return seen.concat(data.roofs.filter(function (r) { return !isRate(r); }));
  }
  function bandwidth(list, source) {
    var memory = list.filter(function (r) { return !isRate(r) && !r.cache; }), own = memory.filter(function (r) { return r.source === source; });
    return most(own.length ? own : memory);
  }
  function narrow() { return figure.clientWidth < 560; }
  // Some roofs that lie together: "bf16, f16 989 TFLOP/s, datasheet".
  function text(list) {
    var by = {};
    list.forEach(function (r) {
      var tail = narrow() ? "" : (isRate(r) ? unit : " GB/s") + (r.source === "measured" ? "" : ", " + r.source), value = +(isRate(r) ? r.value / divisor : r.value).toPrecision(3) + tail;
      (by[value] = by[value] || []).push(r.name);
    });
    return Object.keys(by).map(function (v) { return by[v].join(", ") + " " + v; }).join(" \u00b7 ");
  }
  function roof(list, x, y) {
    return function (r) {
      var measured = r.source === "measured", top = most(list.filter(isRate)) || y[1], wide = bandwidth(list, r.source);
      var ends = isRate(r) ? [{ x: wide ? Math.max(x[0], r.value / wide) : x[0], y: r.value }, { x: x[1], y: r.value }]
        : [x[0], Math.min(x[1], top / r.value)].map(function (v) { return { x: v, y: v * r.value }; });
      return { type: "line", label: r.name, roof: r, data: ends, borderColor: css(measured && !r.cache ? "--text" : "--muted"), borderWidth: measured && !r.cache ? 1.5 : 1, borderDash: r.cache ? [2, 3] : measured ? [] : [6, 5], pointRadius: 0, pointHitRadius: 0 };
    };
  }
  // Names of roofs on the roofs: of rates at the right, of memory along the slope. What lies within a few pixels shares a line.
  function say(ctx, label, x, y, colour) {
    ctx.strokeStyle = css("--bg");
    ctx.lineWidth = 4;
    ctx.lineJoin = "round";
    ctx.strokeText(label, x, y);
    ctx.fillStyle = colour;
    ctx.fillText(label, x, y);
  }
  function nameRates(ctx, area, flat) {
    var groups = [], last = -99;
    flat.sort(function (a, b) { return a.y - b.y; }).forEach(function (f) {
      var g = groups[groups.length - 1];
      if (g && f.y - g.y < 7) g.roofs.push(f.roof); else groups.push({ y: f.y, roofs: [f.roof], colour: f.colour });
    });
    ctx.textAlign = "right";
    groups.forEach(function (g) {
      var y = g.y - 4 - last < 10 ? g.y + 12 : g.y - 4; // below its line where there is no room above
      if (g.y < area.top || (narrow() && y > g.y)) return;
      say(ctx, text(g.roofs), area.right - 4, y, g.colour);
      last = y;
    });
  }
  var names = { id: "names", afterDatasetsDraw: function (c) {
    var ctx = c.ctx, area = c.chartArea, flat = [], named = [];
    ctx.save();
    ctx.font = "11px system-ui, sans-serif";
    c.data.datasets.forEach(function (set, i) {
      if (!set.roof || !c.isDatasetVisible(i) || (narrow() && set.roof.source !== "measured")) return;
      var p = c.getDatasetMeta(i).data, label = text([set.roof]), width = ctx.measureText(label).width;
      if (isRate(set.roof)) return flat.push({ y: p[1].y, roof: set.roof, colour: set.borderColor });
      var dx = p[1].x - p[0].x, dy = p[1].y - p[0].y, long = Math.sqrt(dx * dx + dy * dy), from = Math.max(0, p[0].y > area.bottom ? (area.bottom - p[0].y) / dy : 0);
      // Behind the names of the lines that are near.
      var height = (p[0].y * dx - p[0].x * dy) / long, slope = named.reduce(function (s, n) { return Math.abs(n.height - height) < 26 ? Math.max(s, n.end) : s; }, 14);
      if (slope > 14 && narrow()) return;
      ctx.save();
      ctx.translate(p[0].x + from * dx, p[0].y + from * dy);
      ctx.rotate(Math.atan(dy / dx));
      if (slope + width < long * (1 - from)) say(ctx, label, slope, set.roof.source === "measured" && !set.roof.cache ? 14 : -5, set.borderColor);
      ctx.restore();
      named.push({ height: height, end: slope + width + 14 });
    });
    nameRates(ctx, area, flat);
    ctx.restore();
  } };
  // The nights before of one point: a line and dots that fade into the past.
  function trail(c, p, element, colour) {
    var ctx = c.ctx, y = c.scales.y;
    ctx.strokeStyle = ctx.fillStyle = colour;
    ctx.globalAlpha = 0.35;
    ctx.beginPath();
    ctx.moveTo(element.x, element.y);
    p.trail.forEach(function (t) { ctx.lineTo(element.x, y.getPixelForValue(t[1])); });
    ctx.stroke();
    p.trail.forEach(function (t, i) {
      ctx.globalAlpha = 0.25 + 0.55 * i / p.trail.length;
      ctx.beginPath();
      ctx.arc(element.x, y.getPixelForValue(t[1]), 2.5, 0, 7);
      ctx.fill();
    });
  }
  var trails = { id: "trails", beforeDatasetsDraw: function (c) {
    var active = c.getActiveElements().map(function (a) { return a.element; });
    c.ctx.save();
    c.data.datasets.forEach(function (set, i) {
      if (set.roof || !c.isDatasetVisible(i)) return;
      c.getDatasetMeta(i).data.forEach(function (e, k) {
        var p = set.data[k];
        if (p.trail && (KS.get("trails") || active.indexOf(e) >= 0)) trail(c, p, e, set.borderColor);
      });
    });
    c.ctx.restore();
  } };
  function points(list) {
    return function (label, i) {
      var own = list.filter(function (p) { return p.label === label; }).sort(function (a, b) { return !!a.old - !!b.old; });
      return Object.assign(KM.style(i), { label: label, data: own, showLine: false, pointRadius: 5, pointHoverRadius: 8, pointBackgroundColor: function (c) { return c.raw && c.raw.old ? "transparent" : KM.style(i).backgroundColor; } });
    };
  }
  function axis(range, title, by) {
    var colour = css("--muted"), line = css("--line"), narrow = range[1] / range[0] < 300;
    function decade(v) {
      var l = Math.log10(v / by), rest = Math.pow(10, l - Math.floor(l + 1e-9));
      return Math.abs(rest - 1) < 1e-6 || (narrow && (Math.abs(rest - 2) < 1e-6 || Math.abs(rest - 5) < 1e-6));
    }
    return { type: "logarithmic", min: range[0], max: range[1], grid: { color: function (c) { return c.tick && decade(c.tick.value) ? line : "transparent"; } }, border: { color: line }, title: { display: true, text: title, color: colour },
      ticks: { color: colour, maxRotation: 0, callback: function (v) { return decade(v) ? (+(v / by).toPrecision(1)).toLocaleString("en") : ""; } } };
  }
  function day(t) { return new Date(t * 1000).toISOString().slice(0, 10); }
  function lines(item) {
    var p = item.raw, out = [p.label + ": " + (+(p.y / divisor).toPrecision(4)) + unit + (p.share ? ", " + (p.share * 100).toFixed(p.share < 0.1 ? 1 : 0) + " % of its roof" : "") + (p.old ? ", " + day(p.old) : "")];
    if (p.trail) out.push(day(p.trail[0][0]) + ": " + (+(p.trail[0][1] / divisor).toPrecision(4)) + unit + ", now " + (p.y >= p.trail[0][1] ? "+" : "\u2212") + Math.abs((p.y / p.trail[0][1] - 1) * 100).toFixed(1) + " %");
    return out;
  }
  function ranges(list, shown) {
    var top = most(shown.filter(isRate)), ridges = [bandwidth(shown, "measured"), most(shown.filter(function (r) { return r.cache; }))].filter(Boolean).map(function (wide) { return top / wide; });
    var xs = list.map(function (p) { return p.x; }).concat(top ? ridges : []), ys = list.map(function (p) { return p.y; }).concat(top || []);
    return { x: [Math.min.apply(null, xs) / 4, Math.max.apply(null, xs) * 2], y: [Math.min.apply(null, ys) / 2, Math.max.apply(null, ys) * 1.6] };
  }
  function draw() {
    var list = data.points.filter(wanted), shown = roofs(list), range = ranges(list, shown);
    if (chart) chart.destroy();
    if (!list.length) return;
    big = range.y[1] > 1e4;
    divisor = big ? 1000 : 1;
    unit = big ? " TFLOP/s" : " GFLOP/s";
    chart = new Chart(document.getElementById("canvas"), { type: "scatter", plugins: [trails, names],
      data: { datasets: labels.map(points(list)).filter(function (s) { return s.data.length; }).concat(shown.map(roof(shown, range.x, range.y))) }, options: {
      animation: false, parsing: false, responsive: true, maintainAspectRatio: false, interaction: { mode: "nearest", intersect: true },
      onClick: function (e, hits) { var p = hits[0] && hits[0].element.$context.raw; if (p && p.href) location.href = root + p.href; },
      scales: { x: axis(range.x, "FLOP per byte", 1), y: axis(range.y, unit.trim(), divisor) },
      plugins: { legend: { position: "bottom", labels: { color: css("--text"), usePointStyle: true, boxWidth: 8, boxHeight: 8, padding: 14, filter: function (item, d) { return !d.datasets[item.datasetIndex].roof; } } },
        tooltip: { backgroundColor: css("--card"), titleColor: css("--text"), bodyColor: css("--text"), borderColor: css("--strong-line"), borderWidth: 1, padding: 10, usePointStyle: true,
          filter: function (item) { return !!item.raw.title; }, callbacks: { title: function (items) { return items.length ? items[0].raw.title : ""; }, label: lines } } } } });
    figure.dataset.ready = String(list.length);
  }
  // The table follows what is chosen.
  function rows() {
    document.querySelectorAll("table.shares tbody tr").forEach(function (tr) { tr.hidden = !wanted(tr.dataset); });
  }
  function show() { rows(); draw(); }
  function choose(key, title) {
    var values = data.points.map(function (p) { return p[key]; }).filter(function (v, i, all) { return all.indexOf(v) === i; }).sort();
    if (values.length < 2) return;
    var side = document.createElement("div"), label = document.createElement("label"), select = document.createElement("select");
    side.className = "side";
    label.textContent = title;
    label.htmlFor = select.id = "choose-" + key;
    [""].concat(values).forEach(function (v) { select.append(new Option(v || "any", v)); });
    side.append(label, select);
    tools.prepend(side);
    choices[key] = select;
    select.addEventListener("change", function () { KS.set(key, select.value); show(); });
  }
  var button = document.getElementById("trails");
  function restore() {
    Object.keys(choices).forEach(function (k) { choices[k].value = KS.get(k); if (choices[k].selectedIndex < 0) choices[k].value = ""; });
    button.setAttribute("aria-pressed", String(!!KS.get("trails")));
    show();
  }
  choose("op", "Kernel");
  choose("type", "Type");
  button.hidden = !data.points.some(function (p) { return p.trail; });
  button.addEventListener("click", function () { KS.set("trails", KS.get("trails") ? "" : "1"); restore(); });
  tools.hidden = !Object.keys(choices).length && button.hidden;
  figure.querySelector(".canvas").hidden = false;
  figure.querySelector(".drawn-plain").hidden = true;
  addEventListener("themechange", draw);
  KS.on(restore);
  restore();
})();
