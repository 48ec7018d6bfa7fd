// Ticks of the axes of time and of values.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

const window = {};
for (const name of ["format", "time_axis", "value_axis"]) {
  const file = new URL(`../../../templates/assets/${name}.js`, import.meta.url);
  new Function("window", readFileSync(file, "utf8"))(window);
}
const { timeAxis, valueAxis } = window.tracker;
const day = (text) => Date.parse(text) / 864e5;
const text = (x) => new Date(Math.round(x * 1440) * 60000).toISOString().slice(0, 16);

test("ticks of time begin where a unit of the calendar begins", () => {
  const cases = [
    // from, to, room, the first ticks, how many, whether they show the time of day
    ["2026-01-01T00:00Z", "2026-01-01T00:05Z", 8, "00:00 00:01 00:02", 6, true],
    ["2026-01-01T00:01Z", "2026-01-01T00:29Z", 8, "00:05 00:10 00:15", 5, true],
    ["2026-01-01T00:00Z", "2026-01-01T10:00Z", 8, "00:00 02:00 04:00", 6, true],
    ["2026-01-01T01:00Z", "2026-01-02T23:00Z", 8, "06:00 12:00 18:00", 7, true],
    ["2026-01-01T00:00Z", "2026-01-07T00:00Z", 8, "01-01 01-02 01-03", 7, false],
    ["2026-01-01T00:00Z", "2026-01-13T00:00Z", 8, "01-01 01-03 01-05", 7, false],
    ["2026-01-01T00:00Z", "2026-02-15T00:00Z", 8, "01-05 01-12 01-19", 6, false],
    ["2026-01-01T00:00Z", "2026-03-30T00:00Z", 8, "01-05 01-19 02-02", 7, false],
    ["2026-01-15T00:00Z", "2026-07-15T00:00Z", 8, "02-01 03-01 04-01", 6, false],
    ["2025-02-01T00:00Z", "2027-02-01T00:00Z", 8, "04-01 07-01 10-01", 8, false],
    ["2020-06-01T00:00Z", "2026-06-01T00:00Z", 8, "2021 2022 2023", 6, false],
    ["1990-06-01T00:00Z", "2026-06-01T00:00Z", 8, "1995 2000 2005", 7, false],
  ];
  for (const [from, to, room, start, count, showsTime] of cases) {
    const found = timeAxis.choose(day(from), day(to), room);
    const words = found.ticks.map(text);
    const parts = start.split(" ");
    assert.equal(found.ticks.length, count, `${from} ${to}: ${words.join(" ")}`);
    parts.forEach((part, i) => assert.ok(words[i].includes(part), `${words[i]}: ${part}`));
    assert.equal(found.showsTimeOfDay, showsTime, from);
  }
});

test("ticks of weeks are Mondays, of months and years their first days", () => {
  for (const tick of timeAxis.choose(day("2026-01-01"), day("2026-02-15"), 8).ticks)
    assert.equal(new Date(tick * 864e5).getUTCDay(), 1);
  for (const tick of timeAxis.choose(day("2025-01-15"), day("2026-12-15"), 8).ticks)
    assert.equal(new Date(tick * 864e5).getUTCDate(), 1);
  for (const tick of timeAxis.choose(day("1900-01-15"), day("2026-12-15"), 8).ticks)
    assert.match(text(tick), /^\d{4}-01-01T00:00$/);
});

test("the C code of the drawings chooses the same ticks", () => {
  const cases = new URL("../../unit/site/data/date_ticks.tsv", import.meta.url);
  const lines = readFileSync(cases, "utf8").split("\n");
  for (const line of lines.filter((text) => text && !text.startsWith("#"))) {
    const [from, to, room, isByDay, ticks] = line.split("\t");
    const found = timeAxis.choose(from / 86400, to / 86400, Number(room));
    assert.equal(found.ticks.map((x) => Math.round(x * 86400)).join(" "), ticks, line);
    assert.equal(found.showsTimeOfDay, isByDay === "0", line);
  }
});

test("any range has ticks within it, in order and no more than there is room for", () => {
  let seed = 1;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  for (let round = 0; round < 500; round++) {
    const from = 10000 + random() * 10000;
    const to = from + 10 ** (random() * 7 - 3); // a minute to ten thousand days
    const room = 3 + Math.floor(random() * 6);
    const { ticks } = timeAxis.choose(from, to, room);
    assert.ok(ticks.length <= room);
    const slack = (to - from) * 1e-6;
    const isWithin = (tick) => tick >= from - slack && tick <= to + slack;
    assert.ok(ticks.every((tick, i) => isWithin(tick) && !(tick <= ticks[i - 1])));
  }
});

test("a range of millennia has no ticks rather than too many", () => {
  assert.deepEqual(timeAxis.choose(0, 1e7, 3), { showsTimeOfDay: false, ticks: [] });
});

test("an axis of time has room for its width, and writes what its ticks show", () => {
  const axis = { min: day("2026-01-01"), max: day("2026-01-07"), chart: { canvas: {} } };
  axis.chart.canvas.clientWidth = 2000;
  timeAxis.afterBuildTicks(axis);
  assert.equal(axis.ticks.length, 7);
  assert.equal(timeAxis.callback.call(axis, axis.ticks[1].value), "2026-01-02");
  axis.chart.canvas.clientWidth = 10; // at least room for three
  timeAxis.afterBuildTicks(axis);
  assert.equal(axis.ticks.length, 1);
  axis.max = day("2026-01-01T03:00Z");
  axis.chart.canvas.clientWidth = 420;
  timeAxis.afterBuildTicks(axis);
  assert.equal(axis.ticks.length, 4);
  assert.equal(timeAxis.callback.call(axis, axis.ticks[3].value), "01-01 03:00");
});

test("linear ticks are round numbers with the decimals they need", () => {
  const cases = [
    [0, 1, [0, 0.25, 0.5, 0.75, 1], 2],
    [0, 10, [0, 2.5, 5, 7.5, 10], 1],
    [0, 100, [0, 25, 50, 75, 100], 0],
    [0, 7, [0, 2, 4, 6], 0],
    [-5, 5, [-5, -2.5, 0, 2.5, 5], 1],
    [0.1, 0.4, [0.1, 0.2, 0.3, 0.4], 1],
    [995, 1003, [995, 997.5, 1000, 1002.5], 1],
    [1e-6, 4e-6, [1e-6, 2e-6, 3e-6, 4e-6], 6],
  ];
  for (const [min, max, ticks, decimals] of cases) {
    const found = valueAxis.choose(min, max, false);
    assert.deepEqual(
      found.ticks.map((tick) => +tick.toPrecision(6)),
      ticks,
    );
    assert.equal(found.decimals, decimals);
  }
});

test("logarithmic ticks are powers of ten with what fits between them", () => {
  const cases = [
    [1, 10, [1, 2, 5, 10]],
    [1, 100, [1, 2, 5, 10, 20, 50, 100]],
    [1, 1e3, [1, 3, 10, 30, 100, 300, 1000]],
    [1, 1e6, [1, 10, 100, 1e3, 1e4, 1e5, 1e6]],
    [1, 1e10, [1, 100, 1e4, 1e6, 1e8, 1e10]],
    [2, 4, [2, 2.5, 3, 3.5, 4]], // too short: linear
    [0, 10, [0, 2.5, 5, 7.5, 10]], // none below zero
  ];
  for (const [min, max, ticks] of cases)
    assert.deepEqual(
      valueAxis.choose(min, max, true).ticks.map((tick) => +tick.toPrecision(6)),
      ticks,
    );
});

test("any range of values has three to a dozen ticks", () => {
  let seed = 2;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  for (let round = 0; round < 500; round++) {
    const min = (random() - 0.3) * 10 ** (random() * 12 - 6);
    const max = min + Math.abs(min) * 10 ** (random() * 6 - 3) + 1e-9;
    for (const isLogarithmic of [false, true]) {
      const { ticks } = valueAxis.choose(min, max, isLogarithmic);
      const slack = (max - min) * 1e-6;
      assert.ok(ticks.length >= 3 && ticks.length <= 12, `${min} ${max}: ${ticks}`);
      assert.ok(
        ticks.every((tick) => isLogarithmic || (tick >= min - slack && tick <= max + slack)),
      );
    }
  }
});

test("an axis without a range has its one value", () => {
  assert.deepEqual(valueAxis.choose(3, 3, false), { ticks: [3], decimals: -1 });
  assert.deepEqual(valueAxis.choose(3, NaN, true), { ticks: [3], decimals: -1 });
});

test("ticks are round in the unit that is written", () => {
  const axis = { type: "linear", min: 0, max: 4000 };
  valueAxis.inUnits(1000)(axis);
  assert.deepEqual(
    axis.ticks.map(({ value }) => value + 0),
    [0, 1000, 2000, 3000, 4000],
  );
  assert.equal(valueAxis.callback.call(axis, 3000), "3");
  const logarithmic = { type: "logarithmic", min: 1e3, max: 1e6 };
  valueAxis.inUnits(1000)(logarithmic);
  assert.deepEqual(
    logarithmic.ticks.map(({ value }) => valueAxis.callback.call(logarithmic, value)),
    ["1", "3", "10", "30", "100", "300", "1000"],
  );
});
