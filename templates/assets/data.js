// The data files of the charts. A data file is a classic script that calls tracker.data.add(id,
// object), because a page opened from the disk may not read JSON. The format: see
// docs/reference/site.md.
"use strict";
window.tracker ??= {};
{
  const parts = new Map(); // id -> the objects added under it
  const loading = new Map(); // file -> promise of whether it was loaded
  let nightTimes = null; // night id -> Unix seconds

  function add(id, object) {
    if (!parts.has(id)) parts.set(id, []);
    parts.get(id).push(object);
  }

  // All objects of an id merged into one.
  const get = (id) => Object.assign({}, ...(parts.get(id) ?? []));

  // ---- decoding ----

  // Columns are stored as differences to the element before.
  function decodeDeltas(deltas = [], factor = 1) {
    let sum = 0;
    return deltas.map((delta) => {
      sum += delta;
      return sum * factor;
    });
  }

  // [[index, value], ...]: each value holds from its index on.
  function decodeRuns(runs, length) {
    const values = new Array(length);
    let next = 0;
    let value = 0;
    for (let i = 0; i < length; i++) {
      if (runs[next]?.[0] === i) value = runs[next++][1];
      values[i] = value;
    }
    return values;
  }

  function timeOfNight(night) {
    if (!nightTimes) {
      const { id, time } = get("nights");
      const times = decodeDeltas(time);
      nightTimes = new Map(decodeDeltas(id).map((key, i) => [key, times[i]]));
    }
    return nightTimes.get(night);
  }

  // Quantiles and interval ends are stored as distances from the median; -1: unknown (NaN).
  function decodeDistances(median, distanceAt, factor) {
    const end = (name, sign) => {
      const distance = distanceAt(name);
      return distance >= 0 ? median + sign * distance * factor : NaN;
    };
    const [lo, hi] = [end("lo", -1), end("hi", 1)];
    return {
      value: median,
      lo: Number.isNaN(lo) ? median : lo,
      hi: Number.isNaN(hi) ? median : hi,
      p95: end("p95", 1),
      min: end("min", -1),
      q25: end("q25", -1),
      q75: end("q75", 1),
    };
  }

  const withTime = (time) => ({ time, x: time / 86400 }); // x: days

  function decodePoints(part) {
    const factor = 10 ** part.exp;
    const count = part.value.length;
    const night = decodeDeltas(part.night);
    const time = part.time ? decodeDeltas(part.time) : night.map(timeOfNight);
    const [run, n] = [decodeDeltas(part.run), decodeDeltas(part.n)];
    const revision = decodeRuns(part.revision, count);
    const environment = decodeRuns(part.environment, count);
    const flags = decodeRuns(part.flags, count);
    return decodeDeltas(part.value, factor).map((median, i) => ({
      ...withTime(time[i]),
      ...decodeDistances(median, (name) => part[name]?.[i], factor),
      night: night[i],
      run: run[i],
      n: n[i],
      revision: revision[i],
      environment: environment[i],
      flags: flags[i],
    }));
  }

  function decodeSamples(samples) {
    const decode = ([exponent, ...deltas]) => decodeDeltas(deltas, 10 ** exponent);
    return Object.fromEntries(Object.entries(samples).map(([run, list]) => [run, decode(list)]));
  }

  // { title, label, unit, lower_is_better, ceiling, changes, points, samples: { run: [values] } }
  // of a series; null where none of its files is loaded.
  function series(id) {
    if (!parts.has(id)) return null;
    const result = { points: [], samples: {} };
    for (const part of parts.get(id)) {
      if (part.value) result.points.push(...decodePoints(part));
      else if (part.samples) Object.assign(result.samples, decodeSamples(part.samples));
      else Object.assign(result, part);
    }
    result.points.sort((left, right) => left.time - right.time);
    return result;
  }

  // ---- loading ----

  // Resolves to whether the script was loaded. A failed file is forgotten, so that it can be
  // loaded again.
  function loadFile(file) {
    if (!loading.has(file)) {
      const promise = new Promise((resolve) => {
        const script = document.createElement("script");
        script.src = file;
        script.onload = () => resolve(true);
        script.onerror = () => {
          script.remove();
          loading.delete(file);
          resolve(false);
        };
        document.head.append(script);
      });
      loading.set(file, promise);
    }
    return loading.get(file);
  }

  // Resolves, after all files, to those that could not be loaded.
  async function load(files) {
    const loaded = await Promise.all(files.map(loadFile));
    return files.filter((_, i) => !loaded[i]);
  }

  // Data files that the page itself names are loaded with it, after this script. One that fails is
  // loaded again on demand.
  if (typeof document !== "undefined") {
    for (const script of document.querySelectorAll("script[src]")) {
      const file = script.getAttribute("src");
      loading.set(file, Promise.resolve(true));
      script.addEventListener("error", () => loading.delete(file));
    }
  }

  window.tracker.data = { add, get, series, load };
}
