// The roofline chart: rate over arithmetic intensity, both logarithmic, under the ceilings of the
// night. A click on a point opens its series. Kernel, type and trails are in the address.
"use strict";
{
  const { ceilings, chartAxis, chartOptions, data, dom, format } = window.tracker;
  const { seriesStyle, state } = window.tracker;
  const { colour } = dom;
  const roofline = data.get("roofline");
  const figure = dom.byId("chart");
  const tools = dom.byId("tools");
  const trailsButton = dom.byId("trails");
  const labels = dom.unique((roofline.points ?? []).map(({ label }) => label)).sort();
  const styles = new Map((roofline.points ?? []).map(({ label, style }) => [label, style]));
  const choices = new Map(); // key -> <select>
  let chart = null;
  let scale = { divisor: 1, unit: "GFLOP/s" };

  const isChosen = (point) =>
    [...choices].every(([key, { value }]) => !value || point[key] === value);

  // ---- trails: the nights before ----

  // A line and dots that fade into the past.
  function drawTrail({ ctx: context, scales }, { trail }, mark, trailColour) {
    const points = trail.map(([, rate]) => scales.y.getPixelForValue(rate));
    context.strokeStyle = trailColour;
    context.fillStyle = trailColour;
    context.globalAlpha = 0.35;
    context.beginPath();
    context.moveTo(mark.x, mark.y);
    for (const y of points) context.lineTo(mark.x, y);
    context.stroke();
    points.forEach((y, i) => {
      context.globalAlpha = 0.25 + (0.55 * i) / points.length;
      context.beginPath();
      context.arc(mark.x, y, 2.5, 0, 2 * Math.PI);
      context.fill();
    });
  }

  // Draws all trails, or that of the point under the pointer.
  const trailsPlugin = {
    id: "trails",
    beforeDatasetsDraw(chart) {
      const active = chart.getActiveElements().map(({ element }) => element);
      const showsAll = state.get("trails") !== "";
      chart.ctx.save();
      chart.data.datasets.forEach((dataset, i) => {
        if (dataset.ceiling || !chart.isDatasetVisible(i)) return;
        chart.getDatasetMeta(i).data.forEach((mark, k) => {
          const point = dataset.data[k];
          if (!point.trail || !(showsAll || active.includes(mark))) return;
          drawTrail(chart, point, mark, dataset.borderColor);
        });
      });
      chart.ctx.restore();
    },
  };

  // ---- measured intensity: a line to a tick for each level of the memory ----

  const LEVELS = ["DRAM", "L2", "L1"];

  function drawMeasured({ ctx: context, scales }, { measured }, mark) {
    const xs = measured.map((intensity) => intensity && scales.x.getPixelForValue(intensity));
    const known = [mark.x, ...xs.filter(Boolean)];
    context.beginPath();
    context.moveTo(Math.min(...known), mark.y);
    context.lineTo(Math.max(...known), mark.y);
    xs.forEach((x, i) => {
      if (!x) return;
      context.moveTo(x, mark.y - 6);
      context.lineTo(x, mark.y + 6);
      context.fillText(LEVELS[i], x, mark.y + 18);
    });
    context.stroke();
  }

  const measuredPlugin = {
    id: "measured",
    beforeDatasetsDraw(chart) {
      chart.ctx.save();
      chart.ctx.strokeStyle = chart.ctx.fillStyle = colour("--muted");
      chart.ctx.textAlign = "center";
      chart.data.datasets.forEach((dataset, i) => {
        if (dataset.ceiling || !chart.isDatasetVisible(i)) return;
        chart.getDatasetMeta(i).data.forEach((mark, k) => {
          if (dataset.data[k].measured) drawMeasured(chart, dataset.data[k], mark);
        });
      });
      chart.ctx.restore();
    },
  };

  // ---- drawing ----

  // Points of an older night are smaller.
  function pointsDataset(points, label) {
    const style = seriesStyle(styles.get(label));
    const matching = points.filter((point) => point.label === label);
    return {
      ...style,
      label,
      data: matching.sort((left, right) => !!left.older_s - !!right.older_s),
      showLine: false,
      pointRadius: ({ raw }) => (raw?.older_s ? 3 : 5),
      pointHoverRadius: 8,
    };
  }

  function ranges(points, shownCeilings) {
    const top = ceilings.maximum(shownCeilings.filter(ceilings.isRate));
    const measured = points.flatMap((point) => point.measured ?? []).filter(Boolean);
    const xs = [...points.map(({ x }) => x), ...measured, ...ceilings.ridges(shownCeilings)];
    const ys = [...points.map(({ y }) => y), ...(top ? [top] : [])];
    return {
      x: [Math.min(...xs) / 4, Math.max(...xs) * 2],
      y: [Math.min(...ys) / 2, Math.max(...ys) * 1.6],
    };
  }

  // Labels at powers of ten, and at 2 and 5 times those if the range is short.
  function axis([min, max], title, divisor) {
    const isShort = max / min < 300;
    const isLabelled = (value) => {
      const exponent = Math.log10(value / divisor);
      const mantissa = 10 ** (exponent - Math.floor(exponent + 1e-9));
      return [1, ...(isShort ? [2, 5] : [])].some((digit) => Math.abs(mantissa - digit) < 1e-6);
    };
    const text = (value) => (+(value / divisor).toPrecision(1)).toLocaleString("en");
    return chartAxis({
      type: "logarithmic",
      min,
      max,
      grid: {
        color: ({ tick }) => (tick && isLabelled(tick.value) ? colour("--line") : "transparent"),
      },
      border: { color: colour("--line") },
      title,
      ticks: { autoSkip: true, callback: (value) => (isLabelled(value) ? text(value) : "") },
    });
  }

  const intensity = (value) => value.toFixed(value < 9.95 ? 1 : 0);

  function tooltipLines({ raw: point }) {
    const rateText = (rate) => format.value(rate, "gflop_per_s");
    const parts = [`${point.label}: ${rateText(point.y)}`];
    if (point.efficiency) parts.push(`${format.percent(point.efficiency)} of its ceiling`);
    if (point.peak) parts.push(`${format.percent(point.peak)} of the datasheet\u2019s`);
    if (point.older_s) parts.push(format.day(point.older_s));
    const lines = [parts.join(", ")];
    if (point.measured) {
      const levels = point.measured.map((value, i) => value && `${LEVELS[i]} ${intensity(value)}`);
      lines.push(`measured FLOP/B: ${levels.filter(Boolean).join(", ")}`);
    }
    if (point.trail) {
      const [time, rate] = point.trail[0];
      const change = format.change(point.y / rate - 1);
      lines.push(`${format.day(time)}: ${rateText(rate)}; change since: ${change}`);
    }
    return lines;
  }

  const plugins = {
    legend: {
      position: "bottom",
      labels: {
        boxWidth: 8,
        boxHeight: 8,
        padding: 14,
        filter: (item, { datasets }) => !datasets[item.datasetIndex].ceiling,
      },
    },
    tooltip: {
      filter: ({ raw }) => Boolean(raw.title),
      callbacks: { title: ([item]) => item?.raw.title ?? "", label: tooltipLines },
    },
  };

  const options = (range) =>
    chartOptions({
      interaction: { mode: "nearest", intersect: true },
      onClick: (_event, [hit]) => {
        const href = hit?.element.$context.raw?.href;
        if (href) location.href = dom.root + href;
      },
      scales: {
        x: axis(range.x, "FLOP per byte", 1),
        y: axis(range.y, scale.unit, scale.divisor),
      },
      plugins,
    });

  function draw() {
    const points = roofline.points.filter(isChosen);
    const shown = ceilings.select(roofline.ceilings, points);
    const range = ranges(points, shown);
    chart?.destroy();
    chart = null;
    if (!points.length) return;
    scale = format.chooseScale(range.y[1] > 1e4 ? 1e3 : 1, "gflop_per_s");
    const datasets = [
      ...labels
        .map((label, i) => pointsDataset(points, label, i))
        .filter(({ data }) => data.length),
      ...shown.map((ceiling) => ceilings.dataset(ceiling, shown, range)),
    ];
    chart = new Chart(dom.byId("canvas"), {
      type: "scatter",
      plugins: [measuredPlugin, trailsPlugin, ceilings.namesPlugin(() => scale)],
      data: { datasets },
      options: options(range),
    });
    figure.dataset.ready = String(points.length);
  }

  // ---- controls ----

  // The table shows the chosen points only.
  function show() {
    for (const row of dom.all("table.shares tbody tr")) row.hidden = !isChosen(row.dataset);
    draw();
  }

  function addChoice(key, title) {
    const values = dom.unique(roofline.points.map((point) => point[key])).sort();
    if (values.length < 2) return;
    const options = [["any", ""], ...values.map((value) => [value, value])];
    const { box, select } = dom.labelledSelect(`choose-${key}`, title, options);
    tools.prepend(box);
    choices.set(key, select);
    select.addEventListener("change", () => {
      state.set(key, select.value);
      show();
    });
  }

  function restore() {
    for (const [key, select] of choices) dom.selectValue(select, state.get(key));
    trailsButton.setAttribute("aria-pressed", String(state.get("trails") !== ""));
    show();
  }

  function start() {
    addChoice("op", "Kernel");
    addChoice("type", "Type");
    trailsButton.hidden = !roofline.points.some(({ trail }) => trail);
    trailsButton.addEventListener("click", () => {
      state.set("trails", state.get("trails") ? "" : "1");
      restore();
    });
    tools.hidden = !choices.size && trailsButton.hidden;
    figure.querySelector(".canvas").hidden = false;
    figure.querySelector(".drawn-plain").hidden = true;
    addEventListener("stylechange", draw);
    state.onChange(restore);
    restore();
  }

  if (figure && window.Chart && roofline.points?.length) start();
}
