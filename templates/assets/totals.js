// The charts of a page of trends: the index of each backend, over a range of nights that begins
// at 100. Without this script the page shows drawings of all nights.
"use strict";
{
  const { chartAxis, chartCanvas, chartOptions, data, dom, format } = window.tracker;
  const { seriesStyle, state, timeAxis, valueAxis } = window.tracker;
  const { colour } = dom;
  const RANGES = [
    ["30 nights", "30"],
    ["90 nights", "90"],
    ["365 nights", "365"],
    ["All", ""],
  ];
  const RANGE_MIN = 2; // of the axis to either side, so that noise looks like noise
  let charts = [];
  let range = "";

  // ---- reading ----

  function sums(deltas) {
    let sum = 0;
    return deltas.map((delta) => (sum += delta));
  }

  const decode = ({ time, index }) => {
    const values = sums(index);
    return sums(time).map((seconds, i) => ({ x: seconds / 86400, y: values[i] / 100 }));
  };

  // The points of the range, as percent of its first one.
  function cut(points, from) {
    const kept = points.filter(({ x }) => x >= from);
    return kept.map(({ x, y }) => ({ x, y: (100 * y) / kept[0].y }));
  }

  function startOfRange(lines) {
    const newest = Math.max(...lines.map((points) => points.at(-1).x));
    return range ? newest - range : -Infinity;
  }

  // ---- drawing ----

  // A Chart.js plugin: numbered lines at the changes that the list explains.
  const changeMarks = {
    id: "changeMarks",
    afterDatasetsDraw({ ctx: context, chartArea, scales, options: { marks } }) {
      context.save();
      context.font = `600 11px ${Chart.defaults.font.family}`;
      context.textAlign = "center";
      for (const [time, number, isWorse] of marks) {
        const x = scales.x.getPixelForValue(time / 86400);
        if (x < chartArea.left || x > chartArea.right) continue;
        context.strokeStyle = colour(isWorse ? "--c2" : "--c3");
        context.fillStyle = colour(isWorse ? "--bad" : "--good");
        context.setLineDash([4, 4]);
        context.beginPath();
        context.moveTo(x, chartArea.top);
        context.lineTo(x, chartArea.bottom);
        context.stroke();
        context.fillText(String(number), x, chartArea.top - 5);
      }
      context.restore();
    },
  };

  function yAxis(datasets) {
    const values = datasets.flatMap((dataset) => dataset.data.map(({ y }) => y));
    const [lo, hi] = [Math.min(...values), Math.max(...values)];
    const half = Math.max((hi - lo) * 0.54, RANGE_MIN);
    return chartAxis({
      min: (lo + hi) / 2 - half,
      max: (lo + hi) / 2 + half,
      border: { display: false },
      title: "index",
      afterBuildTicks: valueAxis.afterBuildTicks,
      ticks: { callback: valueAxis.callback },
    });
  }

  function timeRange(datasets) {
    const days = datasets.flatMap((dataset) => dataset.data.map(({ x }) => x));
    const [min, max] = [Math.min(...days), Math.max(...days)];
    const padding = (max - min) * 0.01;
    return { min: min - padding, max: max + padding };
  }

  function options(datasets, marks) {
    return chartOptions({
      marks,
      layout: { padding: { top: 18 } },
      scales: {
        x: chartAxis({
          ...timeRange(datasets),
          afterBuildTicks: timeAxis.afterBuildTicks,
          ticks: { callback: timeAxis.callback },
        }),
        y: yAxis(datasets),
      },
      plugins: {
        legend: false,
        tooltip: {
          callbacks: {
            title: ([item]) => (item ? format.day(Math.round(item.raw.x * 86400)) : ""),
            label: ({ dataset, raw }) => `${dataset.label}: ${raw.y.toFixed(1)}`,
          },
        },
      },
    });
  }

  function makeDatasets(figure, lines) {
    const from = startOfRange(lines);
    return dom.all(".marks li", figure).map(({ dataset }, i) => {
      const points = cut(lines[i], from);
      return {
        ...seriesStyle(+dataset.style),
        label: dataset.label,
        data: points,
        borderWidth: 2,
        pointRadius: points.length > 60 ? 0 : 2.5,
        pointHoverRadius: 5,
        tension: 0,
      };
    });
  }

  // The arrow keys move the tooltip over the nights.
  function addKeys(canvas, chart) {
    const [longest] = chart.data.datasets
      .map(({ data: points }, datasetIndex) => ({ points, datasetIndex }))
      .toSorted((left, right) => right.points.length - left.points.length);
    let index = longest.points.length - 1;
    const show = () => {
      const { x: day } = longest.points[index];
      const active = chart.data.datasets.flatMap(({ data: points }, datasetIndex) => {
        const at = points.findIndex(({ x }) => x === day);
        return at < 0 ? [] : [{ datasetIndex, index: at }];
      });
      const { x, y } = chart.getDatasetMeta(longest.datasetIndex).data[index];
      chart.setActiveElements(active);
      chart.tooltip.setActiveElements(active, { x, y });
      chart.update("none");
      dom.byId("night").textContent = [
        format.day(Math.round(day * 86400)),
        ...chart.tooltip.body.flatMap(({ lines }) => lines),
      ].join(", ");
    };
    const moves = {
      ArrowLeft: () => index - 1,
      ArrowRight: () => index + 1,
      Home: () => 0,
      End: () => longest.points.length - 1,
    };
    canvas.addEventListener("keydown", (event) => {
      if (!moves[event.key] || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      index = Math.min(Math.max(moves[event.key](), 0), longest.points.length - 1);
      show();
    });
  }

  function drawFigure(figure, { lines }, marks) {
    const datasets = makeDatasets(figure, lines.map(decode));
    const type = figure.querySelector("figcaption").textContent;
    const names = datasets.map(({ label }) => label).join(", ");
    const canvas = chartCanvas(`Index of ${names}, ${type}. Arrow keys select a night.`, {
      tabIndex: 0,
    });
    figure.querySelector(".totals-canvas").replaceChildren(canvas);
    const chart = new Chart(canvas, {
      type: "line",
      data: { datasets },
      options: options(datasets, marks),
      plugins: [changeMarks],
    });
    addKeys(canvas, chart);
    charts.push(chart);
  }

  function draw() {
    for (const chart of charts) chart.destroy();
    charts = [];
    const { devices = [] } = data.get("trends");
    dom.all(".trend-section").forEach((section, i) => {
      const panels = devices[i].panels.filter(({ lines }) => lines.length);
      dom.all("figure", section).forEach((figure, k) => {
        drawFigure(figure, panels[k], devices[i].marks);
      });
    });
  }

  // ---- the range ----

  function setRange(value) {
    range = RANGES.some(([, known]) => known === value) ? value : "";
    for (const button of dom.all("#tools button")) {
      button.setAttribute("aria-pressed", String(button.value === range));
    }
    draw();
  }

  function addTools() {
    const tools = dom.byId("tools");
    const choose = ({ target: { value } }) => {
      setRange(value);
      state.set("range", value);
    };
    const buttons = RANGES.map(([text, value]) => dom.button(text, choose, { value }));
    const properties = { className: "segments", role: "group", ariaLabel: "Nights shown" };
    const group = dom.element("div", properties, ...buttons);
    const night = dom.element("span", { id: "night", className: "hide", role: "status" });
    tools.append(group, night);
    tools.hidden = false;
  }

  if (dom.all("figure.totals").length) {
    addTools();
    setRange(state.get("range"));
    addEventListener("stylechange", draw);
  }
}
