// How a contender looks in every chart of a page: by its place in the list, a colour of five, a shape of eight, filled for the first five and hollow
// after. No two of the first forty look alike.
window.KM = (function () {
  "use strict";
  var colours = ["--c1", "--c2", "--c3", "--c4", "--text"], shapes = ["circle", "triangle", "rect", "rectRot", "rectRounded", "crossRot", "star", "cross"];
  var known = {}; // asking lays out what changed
  function css(name) { return known[name] || (known[name] = getComputedStyle(document.documentElement).getPropertyValue(name).trim()); }
  addEventListener("themechange", function () { known = {}; });
  return {
    css: css,
    style: function (i) {
      var colour = css(colours[i % 5]);
      return { borderColor: colour, backgroundColor: i < 5 ? colour : "transparent", pointBorderWidth: i < 5 ? 1 : 2, pointStyle: shapes[i % 8], borderDash: i < 5 ? [] : [5, 4] };
    }
  };
})();
