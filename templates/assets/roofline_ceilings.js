// Ceilings of the roofline chart: which are shown, their lines, and their names on the lines.
"use strict";
{
  const { dom } = window.tracker;
  const { colour } = dom;
  const NARROW_PX = 560;
  const GROUP_PX = 7; // names of lines nearer than this share one label

  const isRate = (ceiling) => ceiling.unit === "gflop_per_s";
  const isMeasured = (ceiling) => ceiling.source === "measured";
  const maximum = (ceilings) => Math.max(0, ...ceilings.map(({ value }) => value));
  const isNarrow = (chart) => chart.width < NARROW_PX;

  // The matrix rates of the types among the points, and all bandwidths. A type without a rate uses
  // the highest one.
  function select(ceilings, points) {
    const rates = ceilings.filter(isRate);
    const types = points.map(({ type }) => type);
    const shown = rates.filter(({ name }) => types.includes(name));
    const lacksRate = types.some((type) => !rates.some(({ name }) => name === type));
    if (lacksRate && rates.length) {
      const measured = rates.filter(isMeasured);
      const candidates = measured.length ? measured : rates;
      const top = candidates.find(({ value }) => value === maximum(candidates));
      if (!shown.includes(top)) shown.push(top);
    }
    return [...shown, ...ceilings.filter((ceiling) => !isRate(ceiling))];
  }

  // The memory bandwidth from a source, else from any.
  function bandwidth(ceilings, source) {
    const memory = ceilings.filter((ceiling) => !isRate(ceiling) && !ceiling.cache);
    const same = memory.filter((ceiling) => ceiling.source === source);
    return maximum(same.length ? same : memory);
  }

  // The intensity where memory, and the fastest cache, stop being the limit.
  function ridges(ceilings) {
    const rate = maximum(ceilings.filter(isRate));
    const bandwidths = [bandwidth(ceilings, "measured"), maximum(ceilings.filter((c) => c.cache))];
    return rate ? bandwidths.filter(Boolean).map((value) => rate / value) : [];
  }

  // The ends of a ceiling's line: flat for a rate, a slope for a bandwidth.
  function lineEnds(ceiling, ceilings, { x: [xMin, xMax], y: [, yMax] }) {
    if (isRate(ceiling)) {
      const memory = bandwidth(ceilings, ceiling.source);
      const ridge = memory ? Math.max(xMin, ceiling.value / memory) : xMin;
      return [
        { x: ridge, y: ceiling.value },
        { x: xMax, y: ceiling.value },
      ];
    }
    const top = maximum(ceilings.filter(isRate)) || yMax;
    const end = Math.min(xMax, top / ceiling.value);
    return [xMin, end].map((x) => ({ x, y: x * ceiling.value }));
  }

  function dataset(ceiling, ceilings, range) {
    const isMain = isMeasured(ceiling) && !ceiling.cache;
    return {
      type: "line",
      label: ceiling.name,
      ceiling,
      data: lineEnds(ceiling, ceilings, range),
      borderColor: colour(isMain ? "--text" : "--muted"),
      borderWidth: isMain ? 1.5 : 1,
      borderDash: ceiling.cache ? [2, 3] : isMain ? [] : [6, 5],
      pointRadius: 0,
      pointHitRadius: 0,
    };
  }

  // ---- names on the lines ----

  // "bf16, f16 989 TFLOP/s, datasheet" for ceilings that coincide.
  function nameText(ceilings, scale, narrow) {
    const names = new Map();
    for (const ceiling of ceilings) {
      const value = isRate(ceiling) ? ceiling.value / scale.divisor : ceiling.value;
      const unit = isRate(ceiling) ? scale.unit : "GB/s";
      const source = isMeasured(ceiling) ? "" : `, ${ceiling.source}`;
      const text = +value.toPrecision(3) + (narrow ? "" : ` ${unit}${source}`);
      names.set(text, [...(names.get(text) ?? []), ceiling.name]);
    }
    return [...names].map(([text, list]) => `${list.join(", ")} ${text}`).join(" \u00b7 ");
  }

  // A halo in the background's colour keeps the text readable over lines.
  function drawText(context, text, x, y, textColour) {
    context.strokeStyle = colour("--bg");
    context.lineWidth = 4;
    context.lineJoin = "round";
    context.strokeText(text, x, y);
    context.fillStyle = textColour;
    context.fillText(text, x, y);
  }

  // Rates: at the right end of their lines; below the line if there is no room above.
  function drawRateNames({ ctx: context, chartArea: area, narrow }, lines, scale) {
    const groups = [];
    for (const line of lines.sort((left, right) => left.y - right.y)) {
      const group = groups.at(-1);
      if (group && line.y - group.y < GROUP_PX) group.ceilings.push(line.ceiling);
      else groups.push({ ...line, ceilings: [line.ceiling] });
    }
    let last = -Infinity;
    context.textAlign = "right";
    for (const { y, ceilings, colour: textColour } of groups) {
      const isBelow = y - 4 - last < 10;
      const baseline = isBelow ? y + 12 : y - 4;
      if (y < area.top || (narrow && isBelow)) continue;
      drawText(context, nameText(ceilings, scale, narrow), area.right - 4, baseline, textColour);
      last = baseline;
    }
  }

  // Bandwidths: along the slope, after the names of nearby lines. `placed`: those drawn already.
  function drawSlopeName(
    { ctx: context, chartArea: area, narrow },
    { ends, ceiling, ...line },
    text,
    placed,
  ) {
    const [from, to] = ends;
    const [dx, dy] = [to.x - from.x, to.y - from.y];
    const length = Math.hypot(dx, dy);
    const hiddenPart = from.y > area.bottom ? (area.bottom - from.y) / dy : 0;
    const height = (from.y * dx - from.x * dy) / length;
    const near = placed.filter((name) => Math.abs(name.height - height) < 26);
    const start = Math.max(14, ...near.map(({ end }) => end));
    if (start > 14 && narrow) return;
    const width = context.measureText(text).width;
    context.save();
    context.translate(from.x + hiddenPart * dx, from.y + hiddenPart * dy);
    context.rotate(Math.atan(dy / dx));
    const offset = isMeasured(ceiling) && !ceiling.cache ? 14 : -5;
    if (start + width < length * (1 - hiddenPart)) {
      drawText(context, text, start, offset, line.colour);
    }
    context.restore();
    placed.push({ height, end: start + width + 14 });
  }

  // A Chart.js plugin; scale: a function that returns the scale of the rates.
  const namesPlugin = (scale) => ({
    id: "ceilingNames",
    afterDatasetsDraw(chart) {
      const { ctx: context, chartArea } = chart;
      const canvas = { ctx: context, chartArea, narrow: isNarrow(chart) };
      const rates = [];
      const placed = [];
      context.save();
      context.font = `11px ${window.Chart.defaults.font.family}`;
      context.textBaseline = "alphabetic";
      chart.data.datasets.forEach(({ ceiling, borderColor }, i) => {
        if (!ceiling || !chart.isDatasetVisible(i)) return;
        if (canvas.narrow && !isMeasured(ceiling)) return;
        const ends = chart.getDatasetMeta(i).data;
        const line = { ceiling, ends, y: ends[1].y, colour: borderColor };
        if (isRate(ceiling)) rates.push(line);
        else drawSlopeName(canvas, line, nameText([ceiling], scale(), canvas.narrow), placed);
      });
      drawRateNames(canvas, rates, scale());
      context.restore();
    },
  });

  window.tracker.ceilings = { select, ridges, dataset, namesPlugin, isRate, maximum };
}
