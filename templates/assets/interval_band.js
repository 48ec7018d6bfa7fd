// A Chart.js plugin that fills the area between `lo` and `hi` of the points of a dataset.
"use strict";
{
  function fillBand(context, points, { x: xScale, y: yScale }, colour) {
    const upper = points.map((point) => [point.x, point.hi]);
    const lower = points.map((point) => [point.x, point.lo]).reverse();
    context.beginPath();
    for (const [x, y] of upper.concat(lower)) {
      context.lineTo(xScale.getPixelForValue(x), yScale.getPixelForValue(y));
    }
    context.closePath();
    context.globalAlpha = 0.16;
    context.fillStyle = colour;
    context.fill();
  }

  window.tracker.intervalBand = {
    id: "intervalBand",
    beforeDatasetsDraw(chart) {
      const { ctx: context, chartArea: area } = chart;
      context.save();
      context.beginPath();
      context.rect(area.left, area.top, area.right - area.left, area.bottom - area.top);
      context.clip();
      chart.data.datasets.forEach((dataset, index) => {
        if (!chart.isDatasetVisible(index)) return;
        fillBand(context, dataset.data, chart.scales, dataset.borderColor);
      });
      context.restore();
    },
  };
}
