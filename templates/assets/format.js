// Numbers with units. The rules are those of the C formatter (base/present.h); a test feeds both
// the same cases (tests/unit/base/data/format_cases.tsv).
"use strict";
window.tracker ??= {};
{
  const NBSP = "\u00a0";
  const MINUS = "\u2212";
  const NONE = "\u2013";

  // Smallest first within a base unit.
  const SCALES = [
    ["ns", 1, "ns"],
    ["ns", 1e3, "\u00b5s"],
    ["ns", 1e6, "ms"],
    ["ns", 1e9, "s"],
    ["gflop_per_s", 1e-3, "MFLOP/s"],
    ["gflop_per_s", 1, "GFLOP/s"],
    ["gflop_per_s", 1e3, "TFLOP/s"],
    ["gb_per_s", 1e-3, "MB/s"],
    ["gb_per_s", 1, "GB/s"],
    ["gb_per_s", 1e3, "TB/s"],
    ["J", 1e-6, "\u00b5J"],
    ["J", 1e-3, "mJ"],
    ["J", 1, "J"],
    ["ratio", 1, ""],
    ["bytes", 1, "B"],
    ["bytes", 1e3, "kB"],
    ["bytes", 1e6, "MB"],
    ["bytes", 1e9, "GB"],
  ].map(([base, divisor, unit]) => ({ base, divisor, unit }));

  // The unit in which a value reads well: { divisor: 1e3, unit: "µs" } for 41200 ns.
  function chooseScale(value, unit) {
    const scales = SCALES.filter((scale) => scale.base === unit);
    const fitting = scales.filter((scale) => Math.abs(value) >= scale.divisor);
    return fitting.at(-1) ?? scales[0] ?? { base: unit, divisor: 1, unit };
  }

  // Four significant digits, without a unit: "41.20".
  function number(value) {
    if (!Number.isFinite(value)) return NONE;
    const size = Math.abs(value);
    if (size >= 1e15) return value.toExponential(0).replace(/e\+(\d)$/, "e+0$1");
    return value.toFixed(size >= 999.95 ? 0 : size >= 99.995 ? 1 : size >= 9.9995 ? 2 : 3);
  }

  // "41.20 µs"
  function value(amount, unit) {
    const scale = chooseScale(amount, unit);
    const text = number(amount / scale.divisor);
    return Number.isFinite(amount) && scale.unit ? text + NBSP + scale.unit : text;
  }

  // 0.031: "+3.1 %"; 2.5: "3.5×"
  function change(ratio) {
    if (!Number.isFinite(ratio)) return NONE;
    if (ratio >= 1e15) return `${number(ratio + 1)}\u00d7`;
    if (ratio >= 1) return `${(ratio + 1).toFixed(ratio < 9 ? 1 : 0)}\u00d7`;
    const percentage = Math.abs(ratio) * 100;
    const sign = percentage < 0.05 ? "\u00b1" : ratio < 0 ? MINUS : "+";
    return `${sign}${percentage.toFixed(1)}${NBSP}%`;
  }

  // Half of an interval relative to its value: "±0.4 %"; "" if it is unknown.
  function halfWidth(middle, lo, hi) {
    const half = (hi - lo) / 2 / middle;
    if (!Number.isFinite(half) || half < 0) return "";
    return `\u00b1${(half * 100).toFixed(half < 0.0995 ? 1 : 0)}${NBSP}%`;
  }

  // A measurement of one sample says nothing about its own spread.
  function hasInterval(point) {
    return (
      Number.isFinite(point.lo) && Number.isFinite(point.hi) && (point.n > 1 || point.hi > point.lo)
    );
  }

  window.tracker.format = {
    // { ns: 1, µs: 1e3, "TFLOP/s": 1e3, ... }: in the unit of its kind that a value comes in
    unitFactors: Object.fromEntries(SCALES.map(({ unit, divisor }) => [unit, divisor])),
    chooseScale,
    number,
    value,
    change,
    halfWidth,
    hasInterval,
    pointHalfWidth: (point) =>
      hasInterval(point) ? halfWidth(point.value, point.lo, point.hi) : "",
    // 0.62: "62 %"
    percent: (ratio) =>
      Number.isFinite(ratio)
        ? `${(ratio * 100).toFixed(Math.abs(ratio) < 0.0995 ? 1 : 0)}${NBSP}%`
        : NONE,
    // A factor: "1.08×"
    factor: (ratio) => `${ratio.toFixed(ratio >= 100 ? 0 : 2)}\u00d7`,
    // Unix seconds as "2026-11-21" and "2026-11-21 09:42", UTC.
    day: (seconds) => new Date(seconds * 1000).toISOString().slice(0, 10),
    minute: (seconds) => new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " "),
    shortRevision: (revision) => revision.slice(0, 12),
  };
}
