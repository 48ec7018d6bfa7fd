// The axis of time of every chart: ticks where a minute, hour, day, week (Monday), month or year
// begins, as many as fit. charts/lines.c has the same rule.
"use strict";
window.tracker ??= {};
{
  const { format } = window.tracker;
  const MINUTES_PER_DAY = 1440;
  const MONDAY = 4; // 1970-01-05
  const STEP_MINUTES = [1, 2, 5, 10, 30, 60, 120, 360, 720, 1440, 2880];
  const STEP_WEEKS = [1, 2];
  const STEP_MONTHS = [1, 2, 3, 6, 12, 24, 60, 120, 600];

  // Days are fractions: a tick on an end counts in spite of their rounding.
  function regularTicks(from, to, step, anchor) {
    const ticks = [];
    const slack = step * 1e-6;
    for (let i = Math.ceil((from - slack - anchor) / step); anchor + i * step <= to + slack; i++) {
      ticks.push(anchor + i * step);
    }
    return ticks;
  }

  // x: days since the epoch; months: since the year 0.
  const startOfMonth = (month) =>
    Date.UTC(Math.floor(month / 12), month % 12) / 60000 / MINUTES_PER_DAY;

  function monthTicks(from, to, step) {
    const first = new Date(from * MINUTES_PER_DAY * 60000);
    const ticks = [];
    let month = first.getUTCFullYear() * 12 + first.getUTCMonth();
    for (month -= month % step; startOfMonth(month) <= to; month += step) {
      if (startOfMonth(month) >= from) ticks.push(startOfMonth(month));
    }
    return ticks;
  }

  // The steps, finest first: [does it show the time of day, its ticks within a range].
  function* candidates(from, to) {
    const span = (to - from) * MINUTES_PER_DAY;
    for (const minutes of STEP_MINUTES) {
      if (span / minutes > 100) continue;
      yield [minutes < MINUTES_PER_DAY, regularTicks(from, to, minutes / MINUTES_PER_DAY, 0)];
    }
    for (const weeks of STEP_WEEKS) yield [false, regularTicks(from, to, 7 * weeks, MONDAY)];
    for (const months of STEP_MONTHS) yield [false, monthTicks(from, to, months)];
  }

  function choose(from, to, room) {
    for (const [showsTimeOfDay, ticks] of candidates(from, to)) {
      if (ticks.length <= room) return { showsTimeOfDay, ticks };
    }
    return { showsTimeOfDay: false, ticks: [] };
  }

  window.tracker.timeAxis = {
    choose,
    // Callbacks of an axis of Chart.js whose values are days.
    afterBuildTicks(axis) {
      const room = Math.max(3, Math.min(8, Math.floor(axis.chart.canvas.clientWidth / 105)));
      const { showsTimeOfDay, ticks } = choose(axis.min, axis.max, room);
      axis.ticks = ticks.map((value) => ({ value }));
      axis.showsTimeOfDay = showsTimeOfDay;
    },
    callback(x) {
      const seconds = Math.round(x * MINUTES_PER_DAY) * 60;
      return this.showsTimeOfDay ? format.minute(seconds).slice(5) : format.day(seconds);
    },
  };
}
