// The look of the n-th backend in every chart of a page: colour, shape, filled or hollow.
// The first forty all differ; render/roofline.c draws the same marks without JavaScript.
"use strict";
window.tracker ??= {};
{
  const COLOURS = ["--c1", "--c2", "--c3", "--c4", "--text"];
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

  // Dataset properties for Chart.js.
  window.tracker.seriesStyle = (index) => {
    const colour = window.tracker.dom.colour(COLOURS[index % COLOURS.length]);
    const isFilled = index < COLOURS.length;
    return {
      borderColor: colour,
      backgroundColor: isFilled ? colour : "transparent",
      pointBorderWidth: isFilled ? 1 : 2,
      pointStyle: SHAPES[index % SHAPES.length],
      borderDash: isFilled ? [] : [5, 4],
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
