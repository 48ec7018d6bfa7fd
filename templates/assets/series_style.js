// The style of a backend in every chart: a colour and a hollow mark, the same on all pages. The
// first 24 all differ; render/mark.c draws the same marks without JavaScript.
"use strict";
window.tracker ??= {};
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

  window.tracker.tooltipStyle = () => {
    const { colour } = window.tracker.dom;
    return {
      backgroundColor: colour("--card"),
      titleColor: colour("--text"),
      bodyColor: colour("--text"),
      borderColor: colour("--strong-line"),
      borderWidth: 1,
      padding: 10,
      usePointStyle: true,
    };
  };
}
