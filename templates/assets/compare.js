// Any two contenders over the problems that both have: times with intervals, ratio, who wins. What is chosen is in the address.
(function () {
  "use strict";
  var data = KD.get("compare"), ages = [["newest night", 0], ["a week before", 7], ["a month before", 30]], SVG = "http://www.w3.org/2000/svg";
  function id(name) { return document.getElementById(name); }
  function node(tag, text, name) {
    var e = document.createElement(tag);
    e.textContent = text;
    if (name) e.className = name;
    return e;
  }
  function key(c) { return c[0] + " @ " + c[1]; }
  var keys = data.contenders.map(key), ops = data.problems.map(function (p) { return p[0]; }).filter(function (o, i, all) { return all.indexOf(o) === i; });

  function fill(select, list, values) {
    list.forEach(function (text, i) {
      var o = node("option", text);
      o.value = values ? values[i] : text;
      select.append(o);
    });
  }
  // What has most problems in common stands there first.
  function usual() {
    var of = keys.map(function () { return {}; }), best = [0, Math.min(1, keys.length - 1), 0];
    data.times.forEach(function (t) { if (t[3]) of[t[1]][t[0]] = 1; });
    for (var a = 0; a < keys.length && a < 60; a++) for (var b = a + 1; b < keys.length && b < 60; b++) {
      var n = Object.keys(of[a]).filter(function (p) { return of[b][p]; }).length;
      if (n > best[2]) best = [a, b, n];
    }
    return best;
  }
  function chosen(name, fallback, allowed) {
    var v = KS.get(name);
    return allowed.indexOf(v) >= 0 ? v : fallback;
  }
  function time(ns) {
    var unit = [[1e9, "s"], [1e6, "ms"], [1e3, "\u00b5s"], [1, "ns"]].filter(function (u) { return ns >= u[0]; })[0] || [1, "ns"];
    return (ns / unit[0]).toPrecision(4) + " " + unit[1];
  }
  function ratio(r) { return (r >= 100 ? r.toFixed(0) : r.toFixed(2)) + "\u00d7"; }

  function sides() {
    var a = keys.indexOf(id("a").value), b = keys.indexOf(id("b").value), ia = +id("a-age").value, ib = +id("b-age").value, op = id("op").value, at = {};
    data.times.forEach(function (t) {
      if (op && data.problems[t[0]][0] !== op) return;
      var o = at[t[0]] = at[t[0]] || {};
      if (t[1] === a && t[3 + ia]) { o.a = t[3 + ia]; o.fileA = t[2]; }
      if (t[1] === b && t[3 + ib]) { o.b = t[3 + ib]; o.fileB = t[2]; }
    });
    return Object.keys(at).filter(function (p) { return at[p].a && at[p].b; }).map(function (p) {
      var o = at[p];
      return { problem: data.problems[p], a: o.a, b: o.b, fileA: o.fileA, fileB: o.fileB, r: o.b[0] / o.a[0], lo: o.b[1] / o.a[2], hi: o.b[2] / o.a[1] };
    });
  }
  // To the left of the middle the first side is slower, to the right faster; the thin line is the interval of the ratio.
  function bar(row, most) {
    var svg = document.createElementNS(SVG, "svg"), x = function (r) { return 50 + Math.max(-1, Math.min(1, Math.log(r) / most)) * 48; };
    svg.setAttribute("viewBox", "0 0 100 10");
    svg.setAttribute("class", "versus-bar");
    svg.setAttribute("aria-hidden", "true");
    svg.setAttribute("preserveAspectRatio", "none");
    [["middle", "M50 0V10"], [row.lo > 1 ? "first" : row.hi < 1 ? "second" : "noise", "M50 3H" + x(row.r) + "V7H50z"], ["interval", "M" + x(row.lo) + " 5H" + x(row.hi)]].forEach(function (part) {
      var path = document.createElementNS(SVG, "path");
      path.setAttribute("class", part[0]);
      path.setAttribute("d", part[1]);
      svg.append(path);
    });
    return svg;
  }
  function cell(t, file) {
    var td = node("td", "", "num c-side"), a = node("a", time(t[0]));
    a.href = "series/" + file + ".html";
    td.append(a, " ", node("span", "\u00b1" + ((t[2] - t[1]) / 2 / t[0] * 100).toFixed(1) + " %", "sub"));
    return td;
  }
  // The device is said where the two differ in it.
  function name(side) {
    var age = id(side + "-age"), c = data.contenders[keys.indexOf(id(side).value)], other = data.contenders[keys.indexOf(id(side === "a" ? "b" : "a").value)];
    return (c[1] === other[1] ? c[0] : key(c)) + (+age.value ? ", " + age.options[age.selectedIndex].text : "");
  }
  function draw() {
    var rows = sides(), most = Math.max.apply(null, [Math.log(1.1)].concat(rows.map(function (r) { return Math.abs(Math.log(r.r)); })));
    var wins = rows.filter(function (r) { return r.lo > 1; }).length, losses = rows.filter(function (r) { return r.hi < 1; }).length;
    var mean = Math.exp(rows.reduce(function (s, r) { return s + Math.log(r.r); }, 0) / rows.length);
    ["a", "b", "a-age", "b-age", "op"].forEach(function (k) { KS.set(k, id(k).value === "0" ? "" : id(k).value); });
    id("head-a").textContent = name("a");
    id("head-b").textContent = name("b");
    id("verdict").textContent = !rows.length ? "They have no problem in common." : name("b") + " takes " + ratio(mean) + " the time of " + name("a") + " (geometric mean of " + rows.length +
      (rows.length > 1 ? " problems). " : " problem). ") + name("a") + " is faster in " + wins + ", " + name("b") + " in " + losses + (rows.length - wins - losses ? ", within the intervals in " + (rows.length - wins - losses) : "") + ".";
    id("rows").textContent = "";
    rows.forEach(function (r) {
      var tr = node("tr", ""), th = node("th", r.problem[1]), who = node("td", "");
      th.scope = "row";
      who.append(bar(r, most), node("span", r.lo > 1 ? name("a") : r.hi < 1 ? name("b") : "within the intervals", "sub"));
      tr.append(th, cell(r.a, r.fileA), cell(r.b, r.fileB), node("td", ratio(r.r), "num"), who);
      id("rows").append(tr);
    });
    id("compare").hidden = !rows.length;
    id("compare").dataset.ready = String(rows.length);
  }
  function restore() {
    if (!keys.length) return;
    var first = usual(), indices = ages.map(function (a, i) { return String(i); });
    id("a").value = chosen("a", keys[first[0]], keys);
    id("b").value = chosen("b", keys[first[1]], keys);
    id("a-age").value = chosen("a-age", "0", indices);
    id("b-age").value = chosen("b-age", "0", indices);
    id("op").value = chosen("op", "", ops);
    draw();
  }
  ["a", "b"].forEach(function (k) {
    fill(id(k), keys);
    fill(id(k + "-age"), ages.map(function (a) { return a[0]; }), ages.map(function (a, i) { return i; }));
  });
  fill(id("op"), ["all kernels"].concat(ops), [""].concat(ops));
  id("sides").hidden = false;
  id("sides").addEventListener("change", draw);
  id("swap").addEventListener("click", function () {
    ["", "-age"].forEach(function (end) { var v = id("a" + end).value; id("a" + end).value = id("b" + end).value; id("b" + end).value = v; });
    draw();
  });
  KS.on(restore);
  restore();
})();
