// What the trend of a series shows, read from the address: range of nights, values, quantity, axis.
"use strict";
{
  const { format, state } = window.tracker;
  const DAY_MS = 864e5;
  const SHORT_RANGE = "180"; // days that are loaded with the page
  const MODES = ["abs", "rate", "peak", "pct", "base", "ceiling"];
  const QUANTITIES = {
    value: "median",
    p95: "95th percentile",
    q75: "upper quartile",
    q25: "lower quartile",
    min: "fastest sample",
  };

  class TrendView {
    // series: of tracker.data.series(); hasOlder: older years are in files that are not loaded yet.
    constructor(series, { divisor, unit, hasOlder }) {
      Object.assign(this, { series, divisor, unit });
      this.defaultRange = hasOlder ? SHORT_RANGE : "all";
    }

    get first() {
      return this.series.points[0].x;
    }

    // A newer night may have failed.
    get last() {
      const marks = (this.series.marks ?? []).map(({ time }) => time / 86400);
      return Math.max(this.series.points.at(-1).x, ...marks);
    }

    // abs: values; rate: work per time; peak: percent of the datasheet's peak; pct: relative to the
    // first night shown; base: relative to the baseline night; ceiling: roofline efficiency.
    get mode() {
      const mode = state.get("mode");
      return MODES.includes(mode) && this.hasMode(mode) ? mode : "abs";
    }

    hasMode(mode) {
      if (mode === "rate") return this.series.work !== undefined;
      return !["ceiling", "peak"].includes(mode) || this.series[mode] > 0;
    }

    get isPercent() {
      return this.mode === "ceiling" || this.mode === "peak";
    }

    // The unit of rates: { divisor, unit }.
    get rateScale() {
      const [amount, unit] = this.series.work ?? [NaN, ""];
      return format.chooseScale(amount / this.series.points.at(-1).value, unit);
    }

    get isRelative() {
      return this.mode === "pct" || this.mode === "base";
    }

    get quantity() {
      const quantity = state.get("show");
      return quantity in QUANTITIES ? quantity : "value";
    }

    get quantityName() {
      return QUANTITIES[this.quantity];
    }

    get isLogarithmic() {
      return state.get("axis") === "log" && !this.isRelative;
    }

    get axisTitle() {
      const titles = {
        abs: this.unit,
        rate: this.rateScale.unit,
        peak: "% of the datasheet’s peak",
        pct: "% of the first night shown",
        base: "% of the baseline night",
        ceiling: "roofline efficiency, %",
      };
      const title = titles[this.mode];
      return this.quantity === "value" ? title : `${title}, ${this.quantityName}`;
    }

    // "30" (days before the newest night), "all", or "2026-01-02..2026-03-04".
    get range() {
      return state.get("range") || this.defaultRange;
    }

    // The range in days since 1970: [first, last].
    get bounds() {
      const dates = /^(\d{4}-\d\d-\d\d)\.\.(\d{4}-\d\d-\d\d)$/.exec(this.range);
      if (dates) {
        const from = Date.parse(dates[1]) / DAY_MS;
        const to = Date.parse(dates[2]) / DAY_MS + 1;
        if (from < to && to > this.first && from < this.last) return [from, to];
      }
      const days = parseInt(this.range, 10);
      return [days > 0 ? Math.max(this.first, this.last - days) : this.first, this.last];
    }

    // Whether the view needs nights before the first one loaded.
    get needsOlder() {
      const { range, first, last } = this;
      if (range === "all" || (/^\d+$/.test(range) && last - range < first)) return true;
      const date = /^\d{4}-\d\d-\d\d/.exec(range);
      if (date && Date.parse(date[0]) / DAY_MS < first) return true;
      const firstTime = this.series.points[0].time;
      return ["night", "base"].some((key) => state.get(key) && +state.get(key) < firstTime);
    }

    get baseline() {
      const time = state.get("base");
      const { points } = this.series;
      return points.find((point) => String(point.time) === time) ?? points[0];
    }

    // A function from a measured value of `series` to the value drawn.
    scale(series, [from]) {
      if (this.isPercent) return (value) => (series[this.mode] / value) * 100;
      if (this.mode === "rate") return (value) => series.work?.[0] / value / this.rateScale.divisor;
      if (this.mode === "abs") return (value) => value / this.divisor;
      const firstShown = series.points.find((point) => point.x >= from) ?? series.points[0];
      const reference = (this.mode === "base" ? this.baseline : firstShown).value;
      return (value) => (value / reference - 1) * 100;
    }

    // A value of `series` in words: a time, or a rate, or a share of the peak.
    amountText(series, value) {
      if (this.mode === "rate") return format.value(series.work?.[0] / value, series.work?.[1]);
      if (this.mode === "peak") return `${format.percent(series.peak / value)} of peak`;
      return `${format.number(value / this.divisor)} ${this.unit}`;
    }

    // How much more, as it is drawn: a rate grows where the time falls.
    changeOf(value, before) {
      return this.mode === "rate" || this.mode === "peak" ? before / value - 1 : value / before - 1;
    }

    // Points for Chart.js. Only the median has an interval.
    chartPoints(series, bounds) {
      const scale = this.scale(series, bounds);
      const { quantity } = this;
      const hasBand = quantity === "value";
      return series.points
        .map((point) => {
          const y = scale(point[quantity]);
          const [lo, hi] = hasBand ? [scale(point.lo), scale(point.hi)] : [y, y];
          return { x: point.x, y, lo, hi, point };
        })
        .filter((point) => Number.isFinite(point.y));
    }

    // At least 5 % of the median to either side, so that noise looks like noise. charts/trend.c has
    // the same rule.
    yRange(datasets, [from, to]) {
      const shown = datasets
        .flatMap((dataset) => dataset.data)
        .filter((point) => point.x >= from && point.x <= to);
      const sorted = shown.map((point) => point.y).sort((left, right) => left - right);
      const middle = sorted.length >> 1;
      const median = sorted.length ? (sorted[(sorted.length - 1) >> 1] + sorted[middle]) / 2 : 0;
      const margin = this.isRelative ? 5 : Math.abs(median) * 0.05;
      const ends = shown.flatMap((point) => [point.lo, point.hi]);
      const lo = ends.reduce((least, end) => Math.min(least, end), median - margin);
      const hi = ends.reduce((most, end) => Math.max(most, end), median + margin);
      if (this.isLogarithmic) return [Math.max(lo, 1e-9) / 1.02, hi * 1.02];
      return [lo - (hi - lo) * 0.04, hi + (hi - lo) * 0.04];
    }
  }

  window.tracker.TrendView = TrendView;
}
