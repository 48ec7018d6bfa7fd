// What speed costs in memory: the rate of every backend and problem of a device over the memory
// that it takes, read from the table below. The page has the same numbers when it is ranked by
// memory.
"use strict";
{
  const { chartAxis, chartCanvas, chartOptions, dom, drawWhenVisible } = window.tracker;
  const { findMetric, format, seriesStyle, valueAxis } = window.tracker;
  const POINTS_MIN = 3;
  // the better known first
  const KINDS = [
    { metric: findMetric("memory"), title: "device memory" },
    { metric: findMetric("workspace"), title: "workspace" },
  ];
  let charts = [];

  // { dataset for each backend } with points { x: bytes, y: GFLOP/s, title }.
  function readPoints(section, metric) {
    const heads = dom.all("table.compare thead th.num", section);
    const sets = heads.map((head) => ({
      label: head.textContent.trim(),
      style: +head.dataset.style,
      data: [],
    }));
    for (const row of dom.all("table.compare tbody tr", section)) {
      const [head, ...cells] = row.cells;
      cells.forEach((cell, i) => {
        const y = parseFloat(cell.dataset.rate ?? "");
        const x = metric.valueOf(cell);
        const title = head.firstChild.textContent.trim();
        if (x > 0 && y > 0) sets[i].data.push({ x, y, title });
      });
    }
    return sets.filter(({ data }) => data.length);
  }

  // "3 GB": ticks are round
  function bytesText(value) {
    const { divisor, unit } = format.chooseScale(value, "bytes");
    return `${+(value / divisor).toPrecision(3)} ${unit}`;
  }

  const axis = (title, callback, divisor) =>
    chartAxis({
      type: "logarithmic",
      title,
      afterBuildTicks: valueAxis.inUnits(divisor),
      ticks: { callback },
    });

  function options(kind, top) {
    const rate = format.chooseScale(top, "gflop_per_s");
    return chartOptions({
      interaction: { mode: "nearest", axis: "xy", intersect: false },
      scales: {
        x: axis(kind.title, bytesText, 1),
        y: axis(rate.unit, valueAxis.callback, rate.divisor),
      },
      plugins: {
        legend: { labels: { boxHeight: 7 } },
        tooltip: {
          callbacks: {
            title: ([item]) => item?.raw.title ?? "",
            label: ({ dataset, raw }) =>
              [
                `${dataset.label}: ${format.value(raw.y, "gflop_per_s")}`,
                format.value(raw.x, "bytes"),
              ].join(" with "),
          },
        },
      },
    });
  }

  function draw(frame, kind, sets) {
    const canvas = chartCanvas(`Rate over ${kind.title}. Rank by it to read every value.`);
    frame.replaceChildren(canvas);
    const top = Math.max(...sets.flatMap(({ data }) => data.map(({ y }) => y)));
    const datasets = sets.map((set) => ({
      ...seriesStyle(set.style),
      label: set.label,
      data: set.data,
      pointRadius: 4,
      pointHoverRadius: 7,
    }));
    charts.push(
      new Chart(canvas, { type: "scatter", data: { datasets }, options: options(kind, top) }),
    );
  }

  function build(holder) {
    const section = holder.closest("section");
    const found = KINDS.map((kind) => ({ kind, sets: readPoints(section, kind.metric) }));
    const { kind, sets } =
      found.find((entry) => entry.sets.flatMap(({ data }) => data).length >= POINTS_MIN) ?? {};
    holder.hidden = !kind;
    if (!kind) return;
    const frame = dom.element("div", { className: "small-canvas" });
    const figure = dom.element("figure", { className: "chart" }, frame);
    holder.replaceChildren(dom.element("h3", { textContent: `Rate over ${kind.title}` }), figure);
    drawWhenVisible(frame, () => draw(frame, kind, sets));
  }

  function rebuild() {
    for (const chart of charts) chart.destroy();
    charts = [];
    dom.all(".memory-speed").forEach(build);
  }
  addEventListener("stylechange", rebuild);
  rebuild();
}
