// What is shown is in the address: #key=value&key=value, changed in place, so that a link can be shared and "back" leaves the page.
window.KS = (function () {
  "use strict";
  function all() { return new URLSearchParams(location.hash.slice(1)); }
  return {
    get: function (key) { return all().get(key) || ""; },
    set: function (key, value) {
      var p = all();
      if (value) p.set(key, value); else p.delete(key);
      var text = p.toString();
      try { history.replaceState(null, "", text ? "#" + text : location.pathname + location.search); } catch (e) { location.hash = text; }
    },
    on: function (f) { addEventListener("hashchange", f); }
  };
})();
