// The rate of every backend over the size of the problem: one chart for each sweep, read from the
// table below it. Hovering over one chart marks the same size in all charts. Without this script
// the page shows drawings of the same charts.
"use strict";
{
  const { chartAxis, chartCanvas, chartOptions, dom, format, seriesStyle, valueAxis } =
    window.tracker;
  const { colour } = dom;
  const TICKS_MAX = 7;
  const WHISKER_MIN_PX = 6; // a shorter one would lie within the mark
  let metric = null; // null: the rate; else a metric of kernel.js
  let charts = [];

  // ---- reading the tables ----

  function readPoint(cell, x, title) {
    if (metric) {
      const value = metric.valueOf(cell);
      const { y, lo, hi } = metric.rangeOf?.(cell) ?? { y: value, lo: value, hi: value };
      return y > 0 && hi > 0 ? { x, y, lo, hi, title } : null;
    }
    const [y, lo, hi] = (cell.dataset.rate ?? "").split(" ").map(Number);
    return y > 0 && hi !== undefined ? { x, y, lo, hi, title } : null;
  }

  // { backends: [{ name, style }], sweeps: Map of number -> Map of backend -> points }
  function readSection(section) {
    const backends = dom.all("table.compare thead th.num", section).map((head) => ({
      name: head.textContent.trim(),
      style: +head.dataset.style,
    }));
    const overBatch = new Set(
      dom.all("figure[data-over]", section).map(({ dataset }) => dataset.sweep),
    );
    const sweeps = new Map();
    for (const row of dom.all("table.compare tbody tr[data-x]", section)) {
      const [head, ...cells] = row.cells;
      const title = head.firstChild.textContent.trim();
      for (const number of row.dataset.sweeps.split(" ")) {
        if (!sweeps.has(number)) sweeps.set(number, new Map());
        const sweep = sweeps.get(number);
        const x = +(overBatch.has(number) ? row.dataset.batch : row.dataset.x);
        cells.forEach((cell, i) => {
          const point = readPoint(cell, x, title);
          if (point) sweep.set(i, [...(sweep.get(i) ?? []), point]);
        });
      }
    }
    return { backends, sweeps };
  }

  const bySize = (left, right) => left.x - right.x;
  const sizesOf = (sweep) =>
    dom.unique([...sweep.values()].flat().map(({ x }) => x)).sort((left, right) => left - right);

  // ---- drawing ----

  // A Chart.js plugin: the interval of every point as a vertical line with caps.
  const whiskers = {
    id: "whiskers",
    afterDatasetsDraw(chart) {
      const { ctx: context, scales } = chart;
      chart.data.datasets.forEach((dataset, i) => {
        if (!chart.isDatasetVisible(i)) return;
        context.strokeStyle = dataset.borderColor;
        chart.getDatasetMeta(i).data.forEach(({ x }, k) => {
          const { lo, hi } = dataset.data[k];
          const [bottom, top] = [lo, hi].map((value) => scales.y.getPixelForValue(value));
          if (Math.abs(bottom - top) < WHISKER_MIN_PX) return;
          context.beginPath();
          for (const [fromX, fromY, toX, toY] of [
            [x, bottom, x, top],
            [x - 3, bottom, x + 3, bottom],
            [x - 3, top, x + 3, top],
          ]) {
            context.moveTo(fromX, fromY);
            context.lineTo(toX, toY);
          }
          context.stroke();
        });
      });
    },
  };

  // A Chart.js plugin: the peak of the datasheet as a dashed line.
  const peakLine = {
    id: "peakLine",
    beforeDatasetsDraw({ ctx: context, chartArea, scales, options: { peak } }) {
      if (!(peak > 0)) return;
      const y = scales.y.getPixelForValue(peak);
      context.save();
      context.strokeStyle = colour("--muted");
      context.setLineDash([6, 5]);
      context.beginPath();
      context.moveTo(chartArea.left, y);
      context.lineTo(chartArea.right, y);
      context.stroke();
      context.restore();
    },
  };

  // Leaves out ticks that would lie too close together on the logarithmic axis.
  function sizeTicks(sizes) {
    const minRatio = (sizes.at(-1) / sizes[0]) ** (1 / TICKS_MAX);
    let last = 0;
    return sizes.filter((size) => {
      if (last && size / last < minRatio) return false;
      last = size;
      return true;
    });
  }

  const xAxis = (sizes, title) =>
    chartAxis({
      type: "logarithmic",
      min: sizes[0] / 1.15,
      max: sizes.at(-1) * 1.15,
      title,
      afterBuildTicks(axis) {
        axis.ticks = sizeTicks(sizes).map((value) => ({ value }));
      },
      ticks: { callback: (value) => String(Math.round(value)) },
    });

  // top: panels share it.
  const yAxis = (scale, top) =>
    chartAxis({
      type: metric ? "logarithmic" : "linear",
      beginAtZero: true,
      suggestedMax: metric ? undefined : top,
      border: { display: false },
      title: metric ? metric.title : scale.unit,
      afterBuildTicks: valueAxis.inUnits(metric ? 1 : scale.divisor),
      ticks: {
        callback(value) {
          return metric ? metric.text(value) : this.tickText(value);
        },
      },
    });

  function options(sizes, xName, { top, peak }) {
    const scale = format.chooseScale(+top, "gflop_per_s");
    const valueText = (value) => (metric ? metric.text(value) : format.value(value, "gflop_per_s"));
    return chartOptions({
      peak: metric ? 0 : +peak,
      onHover: markSameSize,
      scales: { x: xAxis(sizes, xName), y: yAxis(scale, +top) },
      plugins: {
        legend: { labels: { boxHeight: 7 } },
        tooltip: {
          callbacks: {
            title: ([item]) => item?.raw.title ?? "",
            label: ({ dataset, raw }) => `${dataset.label}: ${valueText(raw.y)}`,
          },
        },
      },
    });
  }

  // Activates the points of one size in all other charts.
  function markSameSize(_event, [hit], source) {
    const size = hit && source.data.datasets[hit.datasetIndex].data[hit.index].x;
    for (const chart of charts) {
      if (chart === source) continue;
      const active = chart.data.datasets.flatMap(({ data }, datasetIndex) =>
        data.flatMap(({ x }, index) => (x === size ? [{ datasetIndex, index }] : [])),
      );
      const [first] = active;
      const mark = first && chart.getDatasetMeta(first.datasetIndex).data[first.index];
      chart.setActiveElements(active);
      chart.tooltip.setActiveElements(active, mark?.getProps(["x", "y"]) ?? { x: 0, y: 0 });
      chart.update("none");
    }
  }

  function drawChart(canvas, sweep, backends, { xName, panel }) {
    const byColumn = [...sweep].toSorted(([left], [right]) => left - right);
    const datasets = byColumn.map(([i, points]) => ({
      ...seriesStyle(backends[i].style),
      label: backends[i].name,
      data: points.toSorted(bySize),
      borderWidth: 2,
      pointRadius: 4,
      pointHoverRadius: 7,
      tension: 0,
    }));
    const chart = new Chart(canvas, {
      type: "line",
      data: { datasets },
      options: options(sizesOf(sweep), xName, panel),
      plugins: [peakLine, whiskers],
    });
    charts.push(chart);
  }

  // Takes the place of the drawing.
  function addChart(figure, sweep, backends, xName) {
    const title = metric ? metric.title : "Rate";
    const name = figure.querySelector("figcaption").textContent;
    const canvas = chartCanvas(`${title} over size, ${name}. The table has every value.`);
    const frame = figure.querySelector(".small-canvas");
    drawWhenVisible(frame, () => {
      frame.replaceChildren(canvas);
      figure.querySelector(".marks").hidden = true; // the chart has a legend
      drawChart(canvas, sweep, backends, { xName, panel: figure.dataset });
    });
  }

  function build(holder) {
    const { backends, sweeps } = readSection(holder.closest("section"));
    for (const figure of dom.all("figure", holder)) {
      const sweep = sweeps.get(figure.dataset.sweep) ?? new Map();
      figure.hidden = !sweep.size;
      const note = figure.querySelector(".peak-note");
      if (note) note.hidden = metric !== null; // only rates have a peak
      if (sweep.size)
        addChart(figure, sweep, backends, figure.dataset.over ?? holder.dataset.xName);
    }
  }

  // ---- drawing on demand: near the screen, and before the page is printed ----

  const waiting = new Map(); // element -> function that draws it
  const observer = new IntersectionObserver(
    (entries) => entries.forEach(({ isIntersecting, target }) => isIntersecting && drawNow(target)),
    { rootMargin: "50px" },
  );

  function drawWhenVisible(element, draw) {
    waiting.set(element, draw);
    observer.observe(element);
  }

  function drawNow(element) {
    const draw = waiting.get(element);
    observer.unobserve(element);
    waiting.delete(element);
    draw?.();
  }

  function rebuild() {
    observer.disconnect();
    waiting.clear();
    for (const chart of charts) chart.destroy();
    charts = [];
    dom.all(".scaling").forEach(build);
  }

  addEventListener("beforeprint", () => [...waiting.keys()].forEach(drawNow));
  addEventListener("stylechange", rebuild);
  addEventListener("metricchange", ({ detail }) => {
    metric = detail;
    rebuild();
  });
  rebuild();
  window.tracker.drawWhenVisible = drawWhenVisible;
}
