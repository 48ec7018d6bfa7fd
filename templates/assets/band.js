// A Chart.js plugin that fills between lo and hi of the datasets that have them; gaps stay gaps.
window.KBand = {
  id: "band",
  beforeDatasetsDraw: function (chart) {
    "use strict";
    var ctx = chart.ctx, x = chart.scales.x, y = chart.scales.y, area = chart.chartArea;
    ctx.save();
    ctx.beginPath();
    ctx.rect(area.left, area.top, area.right - area.left, area.bottom - area.top);
    ctx.clip();
    chart.data.datasets.forEach(function (set, index) {
      if (!chart.isDatasetVisible(index)) return;
      var points = set.data;
      ctx.beginPath();
      points.forEach(function (p, i) { ctx[i ? "lineTo" : "moveTo"](x.getPixelForValue(p.x), y.getPixelForValue(p.hi)); });
      for (var i = points.length - 1; i >= 0; i--) ctx.lineTo(x.getPixelForValue(points[i].x), y.getPixelForValue(points[i].lo));
      ctx.closePath();
      ctx.globalAlpha = 0.16;
      ctx.fillStyle = set.borderColor;
      ctx.fill();
    });
    ctx.restore();
  }
};
