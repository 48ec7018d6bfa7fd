// The data files call KD.add(id, {...}); here they are kept and, for a series, put together and decoded.
window.KD = (function () {
  "use strict";
  var parts = {}, loaded = {}, nightTimes;
  if (typeof document !== "undefined") document.querySelectorAll("script[src]").forEach(function (e) { loaded[e.getAttribute("src")] = true; });
  function sums(deltas, factor) {
    var v = 0;
    return deltas.map(function (d) { v += d; return v * factor; });
  }
  // [[index, value], ...]: the value from that point on
  function steps(list, n) {
    var out = new Array(n), at = 0, v = 0;
    for (var i = 0; i < n; i++) {
      if (at < list.length && list[at][0] === i) v = list[at++][1];
      out[i] = v;
    }
    return out;
  }
  function get(id) { return Object.assign.apply(null, [{}].concat(parts[id] || [])); }
  function timeOf(night) {
    if (!nightTimes) {
      var n = get("nights"), ids = sums(n.id || [], 1), times = sums(n.time || [], 1);
      nightTimes = {};
      ids.forEach(function (id, i) { nightTimes[id] = times[i]; });
    }
    return nightTimes[night];
  }
  function decode(part) {
    var factor = Math.pow(10, part.exp), n = part.value.length, value = sums(part.value, factor), night = sums(part.night, 1);
    var time = part.time ? sums(part.time, 1) : night.map(timeOf), run = part.run ? sums(part.run, 1) : [], samples = part.n ? sums(part.n, 1) : [];
    var revision = steps(part.revision, n), environment = steps(part.environment, n), flags = steps(part.flags, n);
    function away(name, sign) { // NaN: unknown
      var list = part[name];
      return value.map(function (v, i) { return list && list[i] >= 0 ? v + sign * list[i] * factor : NaN; });
    }
    var lo = away("lo", -1), hi = away("hi", 1), min = away("min", -1), q25 = away("q25", -1), q75 = away("q75", 1), p95 = away("p95", 1);
    return value.map(function (v, i) {
      return { time: time[i], x: time[i] / 86400, value: v, lo: isNaN(lo[i]) ? v : lo[i], hi: isNaN(hi[i]) ? v : hi[i], p95: p95[i], min: min[i], q25: q25[i], q75: q75[i],
        night: night[i], run: run[i], n: samples[i], revision: revision[i], environment: environment[i], flags: flags[i] };
    });
  }
  // Hot files: first the ids of their series, then a line for each night, a column a quantity; "of" are the places of the series that it has.
  function hot(id) {
    var points = [], place = {};
    (parts.hot || []).forEach(function (line) {
      if (line.ids) {
        if (line.ids.indexOf(id) >= 0) place[line.shard] = line.ids.indexOf(id);
        return;
      }
      var i = line.shard in place ? sums(line.of, 1).indexOf(place[line.shard]) : -1;
      if (i < 0) return;
      var factor = Math.pow(10, line.exp[i]), v = line.value[i];
      function away(name, sign, unknown) { return line[name] && line[name][i] >= 0 ? (v + sign * line[name][i]) * factor : unknown; }
      var time = "time" in line ? line.time : timeOf(line.night);
      points.push({ time: time, x: time / 86400, value: v * factor, lo: away("lo", -1, v * factor), hi: away("hi", 1, v * factor), p95: away("p95", 1, NaN), min: away("min", -1, NaN),
        q25: away("q25", -1, NaN), q75: away("q75", 1, NaN), night: line.night, run: sums(line.run, 1)[i], n: sums(line.n, 1)[i], revision: line.revision[i],
        environment: sums(line.environment, 1)[i], flags: line.flags[i] });
    });
    return points;
  }
  return {
    add: function (id, object) { (parts[id] = parts[id] || []).push(object); },
    get: get,
    // { title, label, unit, lower, roof, changes, points, samples: { run: [values] } }, or null where its files have not been loaded
    series: function (id) {
      if (!parts[id]) return null;
      var s = { points: [], samples: {} };
      parts[id].forEach(function (part) {
        if (part.value) s.points = s.points.concat(decode(part));
        else if (part.samples) Object.keys(part.samples).forEach(function (run) { var l = part.samples[run]; s.samples[run] = sums(l.slice(1), Math.pow(10, l[0])); });
        else Object.assign(s, part);
      });
      var runs = {}; // while a site is being written, a night may be in two of its files
      s.points.forEach(function (p) { if (p.run) runs[p.run] = 1; });
      s.points = s.points.concat(hot(id).filter(function (p) { return !runs[p.run]; }));
      s.points.sort(function (a, b) { return a.time - b.time; });
      return s;
    },
    load: function (files, done) {
      files = files.filter(function (f) { return !loaded[f]; });
      var left = files.length;
      if (!left) return done();
      files.forEach(function (file) {
        var script = document.createElement("script");
        loaded[file] = true;
        script.src = file;
        script.onload = script.onerror = function () { if (!--left) done(); };
        document.head.appendChild(script);
      });
    }
  };
})();
