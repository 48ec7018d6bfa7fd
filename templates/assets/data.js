// The data files call KD.add(id, {...}); here they are kept and, for a series, put together and decoded.
window.KD = (function () {
  "use strict";
  var parts = {};
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
  function decode(part) {
    var factor = Math.pow(10, part.exp), n = part.value.length, value = sums(part.value, factor), time = sums(part.time, 1), night = sums(part.night, 1);
    var revision = steps(part.revision, n), environment = steps(part.environment, n), flags = steps(part.flags, n);
    return value.map(function (v, i) {
      return { time: time[i], x: time[i] / 86400, value: v, lo: v - part.lo[i] * factor, hi: v + part.hi[i] * factor,
        night: night[i], revision: revision[i], environment: environment[i], flags: flags[i] };
    });
  }
  return {
    add: function (id, object) { (parts[id] = parts[id] || []).push(object); },
    get: function (id) { return Object.assign.apply(null, [{}].concat(parts[id] || [])); },
    // { title, label, unit, lower, changes, points }, or null where its files have not been loaded
    series: function (id) {
      if (!parts[id]) return null;
      var s = { points: [] };
      parts[id].forEach(function (part) {
        if (part.value) s.points = s.points.concat(decode(part)); else Object.assign(s, part);
      });
      s.points.sort(function (a, b) { return a.time - b.time; });
      return s;
    },
    load: function (files, done) {
      var left = files.length;
      files.forEach(function (file) {
        var script = document.createElement("script");
        script.src = file;
        script.onload = script.onerror = function () { if (!--left) done(); };
        document.head.appendChild(script);
      });
    }
  };
})();
