// A series of nights, one a day from 2026-01-01 on, and the scripts of its page.
import assert from "node:assert/strict";

export const DAY = 86400;
export const START = 20454; // 2026-01-01, in days
export const CHART = ["format", "dom", "state", "keys", "data", "csv", "time_axis", "value_axis"];
export const DRAW = ["series_style", "interval_band", "trend_view", "trend_chart"];
export const day = (i) => new Date((START + i) * 864e5).toISOString().slice(0, 10);
export const near = (actual, expected) =>
  assert.ok(Math.abs(actual - expected) < 1e-9, `${actual}`);

export function makePoint(i, value, more = {}) {
  const time = (START + i) * DAY;
  const spread = { lo: value * 0.99, hi: value * 1.01, p95: value * 1.1, min: value * 0.9 };
  return {
    ...{ time, x: time / DAY, value, ...spread, q25: NaN, q75: NaN, n: 20 },
    ...{ night: i, run: 100 + i, revision: i, environment: 1, flags: 0 },
    ...more,
  };
}

export const makeSeries = (values, more = {}) => ({
  label: "own",
  title: "T",
  unit: "ns",
  lower_is_better: true,
  changes: [],
  samples: {},
  points: values.map((value, i) => makePoint(i, value)),
  ...more,
});
