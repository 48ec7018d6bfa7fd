// The style of a backend in every chart: a colour and a hollow mark, the same on all pages. The
// first 24 all differ; charts/lines.c draws the same marks without JavaScript. And what all charts
// share: options of Chart.js, an axis, a canvas.
"use strict";
{
  const COLOUR_COUNT = 12;
  const SHAPES = [
    "circle",
    "triangle",
    "rect",
    "rectRot",
    "rectRounded",
    "crossRot",
    "star",
    "cross",
  ];

  // Charts have the font of the page.
  if (window.Chart) window.Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;

  // Dataset properties for Chart.js.
  window.tracker.seriesStyle = (style) => {
    const colour = window.tracker.dom.colour(`--c${(style % COLOUR_COUNT) + 1}`);
    return {
      borderColor: colour,
      backgroundColor: "transparent",
      pointBackgroundColor: "transparent",
      pointBorderWidth: 2,
      pointStyle: SHAPES[(style + 3 * Math.floor(style / SHAPES.length)) % SHAPES.length],
    };
  };

  // plugins: { legend: false, or its options with `labels`; tooltip; others }.
  window.tracker.chartOptions = ({ plugins: { legend, tooltip, ...others }, ...more }) => {
    const { colour } = window.tracker.dom;
    const [card, text] = [colour("--card"), colour("--text")];
    const { labels, ...legendMore } = legend || { display: false };
    return {
      animation: false,
      parsing: false,
      responsive: true,
      maintainAspectRatio: false,
      interaction: { mode: "nearest", axis: "x", intersect: false },
      ...more,
      plugins: {
        legend: { labels: { color: text, usePointStyle: true, ...labels }, ...legendMore },
        tooltip: {
          backgroundColor: card,
          titleColor: text,
          bodyColor: text,
          borderColor: colour("--strong-line"),
          borderWidth: 1,
          padding: 10,
          usePointStyle: true,
          ...tooltip,
        },
        ...others,
      },
    };
  };

  window.tracker.chartAxis = ({ title, ticks, ...more }) => {
    const [line, muted] = ["--line", "--muted"].map(window.tracker.dom.colour);
    return {
      type: "linear",
      grid: { color: line },
      ...(title && { title: { display: true, text: title, color: muted } }),
      ticks: { color: muted, maxRotation: 0, autoSkip: false, ...ticks },
      ...more,
    };
  };

  window.tracker.chartCanvas = (ariaLabel, properties = {}) =>
    window.tracker.dom.element("canvas", { role: "img", ariaLabel, ...properties });
}
