// The two sides of a comparison: what each side is, and its times by problem.
"use strict";
{
  const { data, dom, format } = window.tracker;
  const index = data.get("compare");
  const REVISIONS_MAX = 500;

  // Compact arrays of data/compare*.js as objects.
  const contenders = (index.contenders ?? []).map(
    ([variant, device, revisionsFile, part, file], i) => ({
      i,
      variant,
      device,
      revisionsFile,
      part,
      file,
      key: `${variant} @ ${device}`,
    }),
  );
  const problems = (index.problems ?? []).map(([op, title, type]) => ({ op, title, type }));

  // [problem, contender, series, group, file or 0, exponent, ...ages]
  const decodeEntry = ([problem, contender, series, group, file, exponent, ...ages]) => ({
    problem,
    contender,
    series,
    group,
    file: file || series,
    exponent,
    ages,
  });

  const entries = new Map(); // contender -> its entries; empty until its part is loaded

  function entriesOf({ i, part }) {
    if (!entries.get(i)?.length) {
      const all = (data.get(part).times ?? []).map(decodeEntry);
      entries.set(
        i,
        all.filter(({ contender }) => contender === i),
      );
    }
    return entries.get(i);
  }

  // A time: { value, lo, hi, isKnown, isUnstable }; without an interval isKnown is false.
  const withoutInterval = (value) => ({ value, lo: NaN, hi: NaN, isKnown: false });

  // Time at an age. Stored are differences to the age before and distances of the interval's ends.
  function timeAtAge({ ages, exponent }, age) {
    const unit = 10 ** exponent;
    const found = ages[age];
    if (!found) return null;
    const value = ages.slice(0, age + 1).reduce((sum, entry) => sum + (entry ? entry[0] : 0), 0);
    const [, below, above, isUnstable] = found;
    if (above === undefined) return withoutInterval(value * unit);
    const [lo, hi] = [value - below, value + above].map((end) => end * unit);
    return { value: value * unit, lo, hi, isKnown: true, isUnstable: Boolean(isUnstable) };
  }

  // Time at the newest point that `matches`.
  function timeAtPoint(entry, matches) {
    const point = data.series(entry.series)?.points.findLast(matches);
    if (!point) return null;
    const { value, lo, hi, flags } = point;
    if (!format.hasInterval(point)) return withoutInterval(value);
    const isUnstable = Boolean(flags & 2);
    return { value, lo, hi, isKnown: true, isUnstable };
  }

  // side: { contender, when: "0" | "1" | "2" | "night" | "rev", at: a day or a revision }
  function timeOf(entry, { when, at }) {
    if (when === "night") return timeAtPoint(entry, ({ time }) => format.day(time) === at);
    if (when !== "rev") return timeAtAge(entry, +when);
    const revisions = data.get("revisions");
    return timeAtPoint(entry, ({ revision }) => revisions[revision]?.[0] === at);
  }

  const needsHistory = ({ when }) => when === "night" || when === "rev";

  // The files that hold what a side shows; those of the manifest's groups are [year, path].
  function historyFiles({ contender, when, at }) {
    if (!needsHistory({ when })) return [];
    const { groups } = data.get("manifest");
    const year = when === "night" ? +at.slice(0, 4) : 0;
    const files = entriesOf(contender)
      .flatMap(({ group }) => groups[group])
      .filter(([fileYear]) => !fileYear || !year || fileYear === year)
      .map(([, path]) => path);
    return dom.unique(when === "rev" ? [contender.revisionsFile, ...files] : files);
  }

  // Days with a night, newest first.
  function listNights() {
    let time = 0;
    const days = (data.get("nights").time ?? []).map((delta) => format.day((time += delta)));
    return dom.unique(days).sort().reverse();
  }

  // [text, revision] of a contender's upstream, newest first. Its file must be loaded.
  function listRevisions({ revisionsFile }) {
    const revisions = data.get("revisions");
    const ids = data.get(revisionsFile).ids ?? [];
    return ids
      .slice(-REVISIONS_MAX)
      .reverse()
      .map((id) => {
        const [revision, subject] = revisions[id];
        return [`${format.shortRevision(revision)} ${subject.slice(0, 60)}`, revision];
      });
  }

  function collect(side, filter) {
    const rows = new Map();
    for (const entry of entriesOf(side.contender)) {
      const problem = problems[entry.problem];
      if (
        (filter.op && problem.op !== filter.op) ||
        (filter.type && problem.type !== filter.type)
      ) {
        continue;
      }
      const time = timeOf(entry, side);
      if (time) rows.set(entry.problem, { ...time, file: entry.file });
    }
    return rows;
  }

  // Problems that both sides have: { problem, a, b, ratio, lo, hi, isKnown, isUnstable }. The ratio
  // is the time of the second side over that of the first.
  function compare(sideA, sideB, filter) {
    const times = collect(sideB, filter);
    return [...collect(sideA, filter)]
      .filter(([problem]) => times.has(problem))
      .sort(([left], [right]) => left - right)
      .map(([problem, a]) => {
        const b = times.get(problem);
        return {
          problem: problems[problem],
          a,
          b,
          ratio: b.value / a.value,
          lo: b.lo / a.hi,
          hi: b.hi / a.lo,
          isKnown: a.isKnown && b.isKnown,
          isUnstable: Boolean(a.isUnstable || b.isUnstable),
        };
      });
  }

  // Totals of rows. Rows without intervals count nowhere; the mean is unreliable where half of the
  // rows are unstable.
  function summarize(rows) {
    const known = rows.filter(({ isKnown }) => isKnown);
    const isApart = ({ ratio }) => Math.abs(ratio - 1) >= index.tie;
    const wins = known.filter((row) => row.lo > 1 && isApart(row)).length;
    const losses = known.filter((row) => row.hi < 1 && isApart(row)).length;
    const unstable = known.filter(({ isUnstable }) => isUnstable).length;
    const logSum = known.reduce((sum, { ratio }) => sum + Math.log(ratio), 0);
    return {
      count: known.length,
      unknown: rows.length - known.length,
      wins,
      losses,
      ties: known.length - wins - losses,
      unstable,
      isUnreliable: unstable > 0 && 2 * unstable >= known.length,
      mean: Math.exp(logSum / known.length),
    };
  }

  window.tracker.comparison = {
    index,
    contenders,
    problems,
    needsHistory,
    historyFiles,
    listNights,
    listRevisions,
    compare,
    summarize,
  };
}
