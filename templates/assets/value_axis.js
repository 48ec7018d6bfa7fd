// The axis of values of every chart: at least three round ticks, at most eight.
"use strict";
window.tracker ??= {};
{
  const STEPS = [5, 2.5, 2, 1];
  const TICKS_WANTED = 4;
  const TICKS_MAX = 8;

  function stepTicks(min, max, step) {
    const ticks = [];
    for (let i = Math.ceil(min / step - 1e-9); i * step <= max + step * 1e-9; i++) {
      ticks.push(i * step);
    }
    return ticks;
  }

  // The largest step that gives enough ticks: { ticks, decimals }.
  function linearTicks(min, max) {
    for (let power = Math.ceil(Math.log10(max - min)); ; power--) {
      for (const factor of STEPS) {
        const ticks = stepTicks(min, max, factor * 10 ** power);
        const digits = factor === 2.5 ? 1 - power : -power;
        if (ticks.length >= TICKS_WANTED) return { ticks, decimals: Math.max(0, digits) };
      }
    }
  }

  // Powers of ten, with 2 and 5 where they fit; short ranges have linear ticks.
  function logarithmicTicks(min, max) {
    const powers = [];
    for (let power = Math.floor(Math.log10(min)); 10 ** power <= max; power++) powers.push(power);
    for (const factors of [[1, 2, 5], [1, 3], [1]]) {
      const ticks = powers
        .flatMap((power) => factors.map((factor) => factor * 10 ** power))
        .filter((value) => value >= min && value <= max);
      if (ticks.length >= TICKS_WANTED && ticks.length <= TICKS_MAX) return { ticks, decimals: -1 };
    }
    return max / min < 1000 ? linearTicks(min, max) : { ticks: thinned(powers), decimals: -1 };
  }

  function thinned(powers) {
    const every = Math.ceil(powers.length / TICKS_MAX);
    return powers.filter((_, i) => i % every === 0).map((power) => 10 ** power);
  }

  function choose(min, max, isLogarithmic) {
    if (!(max > min)) return { ticks: [min], decimals: -1 };
    return isLogarithmic && min > 0 ? logarithmicTicks(min, max) : linearTicks(min, max);
  }

  // Sets the ticks of an axis of Chart.js, and axis.tickText(), which writes one in units of
  // `divisor`.
  const inUnits = (divisor) => (axis) => {
    const isLogarithmic = axis.type === "logarithmic";
    const { ticks, decimals } = choose(axis.min / divisor, axis.max / divisor, isLogarithmic);
    axis.ticks = ticks.map((value) => ({ value: value * divisor }));
    axis.tickText = (value) => {
      const amount = value / divisor;
      return decimals < 0 ? String(+amount.toPrecision(3)) : amount.toFixed(decimals);
    };
  };

  window.tracker.valueAxis = {
    choose,
    inUnits,
    afterBuildTicks: inUnits(1),
    callback(value) {
      return this.tickText(value);
    },
  };
}
