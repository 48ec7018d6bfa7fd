// How the trend is drawn: options of Chart.js, annotations and tooltips.
"use strict";
{
  const { chartAxis, chartOptions, dom, format, timeAxis, valueAxis } = window.tracker;
  const { colour } = dom;
  const FLAG_THROTTLED = 1;
  const FLAG_UNSTABLE = 2;

  // ---- annotations ----

  const verticalLine = (x, properties) => ({ type: "line", xMin: x, xMax: x, ...properties });

  // Numbered as in the list of change points; labels of neighbours are staggered.
  function changePointMark(change, i, lowerIsBetter) {
    const isWorse = change.after > change.before === lowerIsBetter;
    return changeLine(change.time / 86400, String(i + 1), isWorse, (i % 3) * 22);
  }

  function changeLine(x, content, isWorse, yAdjust = 0) {
    const border = colour(isWorse ? "--c2" : "--c3");
    return verticalLine(x, {
      borderColor: border,
      borderWidth: 1.5,
      borderDash: [4, 4],
      label: {
        display: true,
        content,
        position: "start",
        yAdjust,
        backgroundColor: colour("--card"),
        color: colour(isWorse ? "--bad" : "--good"),
        borderColor: border,
        borderWidth: 1,
        borderRadius: 9,
        padding: { x: 6, y: 2 },
        font: { size: 11 },
      },
    });
  }

  // At the top edge: a new environment, or a measurement that was throttled or unstable.
  function conditionMark(point, before) {
    const isNewEnvironment = before && before.environment !== point.environment;
    if (!isNewEnvironment && !(point.flags & (FLAG_THROTTLED | FLAG_UNSTABLE))) return null;
    return {
      type: "label",
      xValue: point.x,
      yValue: (context) => context.chart.scales.y.max,
      yAdjust: 9,
      content: isNewEnvironment ? "\u25c6" : "\u26a0",
      color: colour("--note"),
      font: { size: 12 },
      z: 1,
    };
  }

  // At the lower edge: a night that failed or was skipped, or the newest verdict.
  function nightMark({ time, word, isVerdict, isWorse }) {
    if (isVerdict) return changeLine(time / 86400, word, isWorse);
    return {
      type: "label",
      xValue: time / 86400,
      yValue: (context) => context.chart.scales.y.min,
      yAdjust: -9,
      content: "\u2715",
      color: colour(isWorse ? "--bad" : "--note"),
      font: { size: 12 },
      z: 1,
    };
  }

  function ceilingLine(y) {
    const label = { content: "ceiling", position: "end", padding: 3, font: { size: 11 } };
    return {
      type: "line",
      yMin: y,
      yMax: y,
      borderColor: colour("--text"),
      borderWidth: 1,
      label: {
        ...label,
        display: true,
        backgroundColor: colour("--card"),
        color: colour("--text"),
      },
    };
  }

  function annotations(view, pinned) {
    const { series } = view;
    const marks = {};
    series.changes.forEach((change, i) => {
      marks[`change${i}`] = changePointMark(change, i, series.lower_is_better);
    });
    series.points.forEach((point, i) => {
      const mark = conditionMark(point, series.points[i - 1]);
      if (mark) marks[`condition${i}`] = mark;
    });
    (series.marks ?? []).forEach((mark, i) => {
      marks[`night${i}`] = nightMark(mark);
    });
    if (pinned) {
      const style = { borderColor: colour("--strong-line"), borderWidth: 1.5 };
      marks.pinned = verticalLine(pinned.x, style);
    }
    if (view.mode === "base") {
      const style = { borderColor: colour("--c1"), borderWidth: 1, borderDash: [1, 3] };
      marks.baseline = verticalLine(view.baseline.x, style);
    }
    if (view.mode === "abs" && view.isLogarithmic && series.ceiling > 0) {
      marks.ceiling = ceilingLine(series.ceiling / view.divisor);
    }
    return marks;
  }

  // ---- tooltips ----

  function tooltipLabel(view, { raw: { point }, dataset: { series } }) {
    const before = series.points[series.points.indexOf(point) - 1];
    const amount = point[view.quantity];
    let text = `${series.label}: ${view.amountText(series, amount)}`;
    if (view.quantity === "value") text += ` ${format.pointHalfWidth(point)}`;
    else text += ` (${view.quantityName})`;
    if (!before) return text;
    return `${text} (${format.change(view.changeOf(amount, before[view.quantity]))})`;
  }

  function revisionLine(revision, point, before) {
    const [id, subject] = revision;
    const isSame = before?.revision === point.revision;
    return format.shortRevision(id) + (isSame ? " (same revision)" : ` ${subject.slice(0, 70)}`);
  }

  // What was measured in a night: revision, environment, flags, efficiency.
  function tooltipDetails(view, names, { raw: { point }, dataset: { series } }) {
    const before = series.points[series.points.indexOf(point) - 1];
    const revision = series === view.series && names.revisions[point.revision];
    const lines = [];
    if (revision) lines.push(revisionLine(revision, point, before));
    if (before && before.environment !== point.environment) {
      lines.push(`environment: ${names.environments[point.environment] || "changed"}`);
    }
    if (point.flags & FLAG_THROTTLED) lines.push("throttled");
    if (point.flags & FLAG_UNSTABLE) lines.push("unstable");
    if (series.ceiling > 0) {
      lines.push(`roofline efficiency ${format.percent(series.ceiling / point.value)}`);
    }
    return lines;
  }

  // ---- axes ----

  function valueTick(view, value, axis) {
    if (view.isRelative) return Math.abs(value) < 1e-9 ? "0 %" : format.change(value / 100);
    return view.isPercent ? `${axis.tickText(value)} %` : axis.tickText(value);
  }

  function axes(view, [from, to], [bottom, top], padding) {
    return {
      x: chartAxis({
        min: from - padding,
        max: to + padding,
        border: { color: colour("--line") },
        afterBuildTicks: timeAxis.afterBuildTicks,
        ticks: { callback: timeAxis.callback },
      }),
      y: chartAxis({
        type: view.isLogarithmic ? "logarithmic" : "linear",
        min: bottom,
        max: top,
        border: { display: false },
        title: view.axisTitle,
        afterBuildTicks: valueAxis.afterBuildTicks,
        ticks: {
          callback(value) {
            return valueTick(view, value, this);
          },
        },
      }),
    };
  }

  // ---- options ----

  function zoomOptions(view, padding, onZoom) {
    const { first, last } = view;
    const minRange = Math.min(2, (last - first) / 4 || 1 / 48);
    return {
      limits: { x: { min: first - padding, max: last + padding, minRange } },
      pan: { enabled: true, mode: "x", modifierKey: "shift", onPanComplete: onZoom },
      zoom: {
        mode: "x",
        drag: { enabled: true, backgroundColor: colour("--quiet-soft"), threshold: 8 },
        wheel: { enabled: true, modifierKey: "ctrl" },
        pinch: { enabled: true },
        onZoomComplete: onZoom,
      },
    };
  }

  function tooltip(view, names) {
    return {
      footerColor: colour("--muted"),
      footerFont: { weight: "normal" },
      callbacks: {
        title: ([item]) => (item ? format.minute(item.raw.point.time) : ""),
        label: (item) => tooltipLabel(view, item),
        footer: ([item]) => (item ? tooltipDetails(view, names, item) : []),
      },
    };
  }

  // handlers: { onClick, onHover, onLegendClick, onZoom }; pinned: a point, or undefined.
  function options(view, names, { bounds, yRange, isLegendShown, pinned }, handlers) {
    const padding = (bounds[1] - bounds[0]) * 0.012 || 1 / 48;
    return chartOptions({
      normalized: true,
      onClick: handlers.onClick,
      onHover: handlers.onHover,
      scales: axes(view, bounds, yRange, padding),
      plugins: {
        legend: {
          display: isLegendShown,
          labels: { pointStyle: "line" },
          onClick: handlers.onLegendClick,
        },
        annotation: { annotations: annotations(view, pinned) },
        tooltip: tooltip(view, names),
        zoom: zoomOptions(view, padding, handlers.onZoom),
      },
    });
  }

  function dataset(view, series, bounds, isHidden) {
    const { borderColor: line, pointStyle } = window.tracker.seriesStyle(series.style ?? 0);
    return {
      label: series.label,
      data: view.chartPoints(series, bounds),
      borderColor: line,
      backgroundColor: line,
      borderWidth: 2,
      pointRadius: series.points.length > 200 ? 0 : 2,
      pointHoverRadius: 5,
      pointHitRadius: 8,
      pointStyle,
      tension: 0,
      borderDash: series.isDashed ? [5, 4] : [],
      hidden: isHidden,
      series,
    };
  }

  window.tracker.trendChart = { options, dataset, FLAG_THROTTLED, FLAG_UNSTABLE };
}
