// Any two contenders over the problems that both have: times with intervals, ratio, who wins. Each at its newest night, an age, a night or a revision;
// the history is loaded where it is needed. What is chosen is in the address.
(function () {
  "use strict";
  var data = KD.get("compare"), SVG = "http://www.w3.org/2000/svg", DAY = 86400;
  var whens = [["newest night", "0"], ["a week before", "1"], ["a month before", "2"], ["a night \u2026", "night"], ["a revision \u2026", "rev"]];
  function id(name) { return document.getElementById(name); }
  function node(tag, text, name) {
    var e = document.createElement(tag);
    e.textContent = text;
    if (name) e.className = name;
    return e;
  }
  function key(c) { return c[0] + " @ " + c[1]; }
  function distinct(list) { return list.filter(function (o, i, all) { return all.indexOf(o) === i; }); }
  var keys = data.contenders.map(key), ops = distinct(data.problems.map(function (p) { return p[0]; })), types = distinct(data.problems.map(function (p) { return p[2]; })).sort();

  function fill(select, list) {
    select.textContent = "";
    list.forEach(function (item) {
      var o = node("option", item[0]);
      o.value = item[1];
      select.append(o);
    });
  }
  function own(list) { return list.map(function (t) { return [t, t]; }); }
  function chosen(name, fallback, allowed) {
    var v = KS.get(name);
    return allowed.indexOf(v) >= 0 ? v : fallback;
  }
  function time(ns) {
    var unit = [[1e9, "s"], [1e6, "ms"], [1e3, "\u00b5s"], [1, "ns"]].filter(function (u) { return ns >= u[0]; })[0] || [1, "ns"];
    return (ns / unit[0]).toPrecision(4) + " " + unit[1];
  }
  function ratio(r) { return (r >= 100 ? r.toFixed(0) : r.toFixed(2)) + "\u00d7"; }
  function day(t) { return new Date(t * 1000).toISOString().slice(0, 10); }

  // ---- the history of a side, only where it is asked for
  function nightsOf() {
    var n = KD.get("nights"), v = 0, days = {};
    (n.time || []).forEach(function (d) { v += d; days[day(v)] = 1; });
    return Object.keys(days).sort().reverse();
  }
  function entries(contender) { return (KD.get(data.contenders[contender][3]).times || []).filter(function (t) { return t[1] === contender; }); }
  function filesOf(side) {
    var contender = keys.indexOf(id(side).value), when = id(side + "-age").value, at = id(side + "-at").value, year = when === "night" ? +at.slice(0, 4) : 0, files = {};
    if (when === "rev") files[data.contenders[contender][2]] = 1;
    else if (when !== "night") return [];
    var groups = KD.get("manifest").groups;
    entries(contender).forEach(function (t) { groups[t[3]].forEach(function (f) { if (!f[0] || !year || f[0] === year) files[f[1]] = 1; }); });
    return Object.keys(files);
  }
  // The point of a night: the newest of that day; of a revision: the newest that was measured with it.
  function pointOf(t, side) {
    var when = id(side + "-age").value, at = id(side + "-at").value, s = KD.series(t[2]), found = null;
    if (!s) return 0;
    var revisions = KD.get("revisions");
    s.points.forEach(function (p) {
      var r = when === "rev" ? revisions[p.revision] : null;
      if (when === "rev" ? r && r[0] === at : day(p.time) === at) found = p;
    });
    return found ? found.n > 1 || found.hi > found.lo ? [found.value, found.lo, found.hi, found.flags & 2] : [found.value] : 0;
  }
  // Of an age: [value, low end, high end, wider than asked], without the ends where one sample is all there is. Stored are differences to the age before and distances from the median, in steps of a power of ten.
  function timeOf(t, age) {
    var step = Math.pow(10, t[5]), v = 0, found = 0;
    for (var i = 0; i <= age; i++) {
      found = t[6 + i];
      if (found) v += found[0];
    }
    return found ? found.length < 3 ? [v * step] : [v * step, (v - found[1]) * step, (v + found[2]) * step, found[3]] : 0;
  }
  function valueOf(t, side) {
    var when = id(side + "-age").value;
    return when === "night" || when === "rev" ? pointOf(t, side) : timeOf(t, +when);
  }
  // The second choice of a side: which night, or which revision of its upstream.
  function fillAt(side, then) {
    var when = id(side + "-age").value, select = id(side + "-at"), wanted = select.value || KS.get(side + "-at");
    select.hidden = when !== "night" && when !== "rev";
    function set(list) {
      fill(select, list);
      if (list.some(function (o) { return o[1] === wanted; })) select.value = wanted;
      then();
    }
    if (select.hidden) return then();
    if (when === "night") return set(own(nightsOf()));
    KD.load([data.contenders[keys.indexOf(id(side).value)][2]], function () {
      var all = KD.get("revisions"), ids = KD.get(data.contenders[keys.indexOf(id(side).value)][2]).ids || [];
      set(ids.slice(-500).reverse().map(function (k) { return [all[k][0].slice(0, 12) + " " + all[k][1].slice(0, 60), all[k][0]]; }));
    });
  }

  function sides() {
    var a = keys.indexOf(id("a").value), b = keys.indexOf(id("b").value), op = id("op").value, type = id("type").value, at = {};
    [[a, "a", "fileA"], [b, "b", "fileB"]].forEach(function (side) {
      entries(side[0]).forEach(function (t) {
        var p = data.problems[t[0]];
        if ((op && p[0] !== op) || (type && p[2] !== type)) return;
        var o = at[t[0]] = at[t[0]] || {};
        o[side[1]] = valueOf(t, side[1]);
        o[side[2]] = t[4] || t[2];
      });
    });
    var rows = Object.keys(at).filter(function (p) { return at[p].a && at[p].b; }).map(function (p) {
      var o = at[p];
      return { problem: data.problems[p], a: o.a, b: o.b, fileA: o.fileA, fileB: o.fileB, unstable: o.a[3] || o.b[3], known: o.a.length > 1 && o.b.length > 1, r: o.b[0] / o.a[0], lo: o.b[1] / o.a[2], hi: o.b[2] / o.a[1] };
    });
    if (id("sort").value === "gain") rows.sort(function (x, y) { return y.r - x.r; });
    return rows;
  }
  // To the left of the middle the first side is slower, to the right faster; the thin line is the interval of the ratio.
  function bar(row, most) {
    var svg = document.createElementNS(SVG, "svg"), x = function (r) { return 50 + Math.max(-1, Math.min(1, Math.log(r) / most)) * 48; };
    svg.setAttribute("viewBox", "0 0 100 10");
    svg.setAttribute("class", "versus-bar");
    svg.setAttribute("aria-hidden", "true");
    svg.setAttribute("preserveAspectRatio", "none");
    [["middle", "M50 0V10"], [row.lo > 1 ? "first" : row.hi < 1 ? "second" : "noise", "M50 3H" + x(row.r) + "V7H50z"]].concat(row.known ? [["interval", "M" + x(row.lo) + " 5H" + x(row.hi)]] : []).forEach(function (part) {
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
    td.append(a, " ", node("span", t.length > 1 ? "\u00b1" + ((t[2] - t[1]) / 2 / t[0] * 100).toFixed(1) + " %" : "one sample", "sub"));
    return td;
  }
  // The device is said where the two differ in it.
  function name(side) {
    var when = id(side + "-age"), c = data.contenders[keys.indexOf(id(side).value)], other = data.contenders[keys.indexOf(id(side === "a" ? "b" : "a").value)], at = id(side + "-at").value;
    return (c[1] === other[1] ? c[0] : key(c)) + (when.value === "night" ? ", " + at : when.value === "rev" ? ", " + at.slice(0, 12) : +when.value ? ", " + when.options[when.selectedIndex].text : "");
  }
  // What has no interval decides nothing: it is listed, and counts nowhere.
  function count(all) {
    var rows = all.filter(function (r) { return r.known; }), wins = rows.filter(function (r) { return r.lo > 1; }).length, losses = rows.filter(function (r) { return r.hi < 1; }).length;
    var unstable = rows.filter(function (r) { return r.unstable; }).length;
    return { rows: rows.length, guess: 2 * unstable >= rows.length && unstable, open: all.length - rows.length, wins: wins, losses: losses, even: rows.length - wins - losses, mean: Math.exp(rows.reduce(function (s, r) { return s + Math.log(r.r); }, 0) / rows.length) };
  }
  // Which of the two for which kernel and type.
  function summary(rows) {
    var groups = distinct(rows.map(function (r) { return r.problem[0] + " " + r.problem[2]; })), body = id("summary-rows");
    body.textContent = "";
    id("summary").hidden = groups.length < 2;
    groups.forEach(function (g) {
      var c = count(rows.filter(function (r) { return r.problem[0] + " " + r.problem[2] === g; })), tr = node("tr", ""), th = node("th", g);
      th.scope = "row";
      tr.append(th, node("td", !c.rows ? "not enough samples" : c.wins + c.losses === 0 ? "no difference" : c.mean > 1 ? name("a") : name("b")),
        node("td", c.rows ? ratio(c.mean) + (c.guess ? " (a guess)" : "") : "\u2013", "num"), node("td", String(c.wins), "num"), node("td", String(c.losses), "num"), node("td", String(c.even), "num"));
      body.append(tr);
    });
    id("summary-a").textContent = name("a") + " faster";
    id("summary-b").textContent = name("b") + " faster";
  }
  function draw() {
    var rows = sides(), most = Math.max.apply(null, [Math.log(1.1)].concat(rows.map(function (r) { return Math.abs(Math.log(r.r)); }))), c = count(rows);
    ["a", "b", "a-age", "b-age", "a-at", "b-at", "op", "type", "sort"].forEach(function (k) { var e = id(k); KS.set(k, e.hidden || e.value === "0" ? "" : e.value); });
    id("head-a").textContent = name("a");
    id("head-b").textContent = name("b");
    id("verdict").textContent = !rows.length ? "They have no problem in common" + (id("a-at").hidden && id("b-at").hidden ? "." : " at these times.") : (!c.rows ? "" : name("b") + " takes " + ratio(c.mean) + " the time of " + name("a") + " (geometric mean of " + c.rows +
      (c.rows > 1 ? " problems). " : " problem). ") + name("a") + " is faster in " + c.wins + ", " + name("b") + " in " + c.losses + (c.even ? ", within the intervals in " + c.even : "") + "." + (c.guess ? " The timings of " + c.guess + " of " + c.rows + " have an interval wider than asked: the mean is a guess." : "")) + (c.open ? (c.rows ? " " : "") + "Not enough samples to compare " + c.open + (c.open > 1 ? " problems." : " problem.") : "");
    id("rows").textContent = "";
    rows.forEach(function (r) {
      var tr = node("tr", ""), th = node("th", r.problem[1]), who = node("td", "");
      th.scope = "row";
      who.append(bar(r, most), node("span", !r.known ? "not enough samples" : r.lo > 1 ? name("a") : r.hi < 1 ? name("b") : "within the intervals", "sub"));
      tr.append(th, cell(r.a, r.fileA), cell(r.b, r.fileB), node("td", ratio(r.r), "num"), who);
      id("rows").append(tr);
    });
    summary(rows);
    id("compare").hidden = !rows.length;
    id("compare").dataset.ready = String(rows.length);
  }
  function load() {
    id("compare").dataset.ready = "";
    var own = ["a", "b"].map(function (k) { return data.contenders[keys.indexOf(id(k).value)][4]; });
    var past = ["a-age", "b-age"].some(function (k) { return id(k).value === "night" || id(k).value === "rev"; });
    KD.load(distinct(own).concat(past ? [data.manifest] : []), function () {
      fillAt("a", function () { fillAt("b", function () { KD.load(filesOf("a").concat(filesOf("b")), draw); }); });
    });
  }
  function restore() {
    if (!keys.length) return;
    var first = data.pair, values = whens.map(function (w) { return w[1]; });
    id("a").value = chosen("a", keys[first[0]], keys);
    id("b").value = chosen("b", keys[first[1]], keys);
    id("a-age").value = chosen("a-age", "0", values);
    id("b-age").value = chosen("b-age", "0", values);
    id("op").value = chosen("op", "", ops);
    id("type").value = chosen("type", "", types);
    id("sort").value = chosen("sort", "0", ["gain"]);
    ["a-at", "b-at"].forEach(function (k) { fill(id(k), []); });
    load();
  }
  ["a", "b"].forEach(function (k) {
    fill(id(k), own(keys));
    fill(id(k + "-age"), whens);
  });
  fill(id("op"), [["all kernels", ""]].concat(own(ops)));
  fill(id("type"), [["all types", ""]].concat(own(types)));
  id("sides").hidden = false;
  id("sides").addEventListener("change", load);
  id("swap").addEventListener("click", function () {
    var ends = ["", "-age"], at = [id("a-at").value, id("b-at").value];
    ends.forEach(function (end) { var v = id("a" + end).value; id("a" + end).value = id("b" + end).value; id("b" + end).value = v; });
    ["a-at", "b-at"].forEach(function (k, i) { fill(id(k), own([at[1 - i]])); id(k).value = at[1 - i]; });
    load();
  });
  KK.add("s", "swap the sides", function () { id("swap").click(); });
  KS.on(restore);
  restore();
})();
