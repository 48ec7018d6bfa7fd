// The theme is set before the page is painted: system, light or dark, kept for the next page.
(function () {
  "use strict";
  var root = document.documentElement, order = ["system", "light", "dark"], names = { system: "System", light: "Light", dark: "Dark" };
  function stored() {
    try { return localStorage.getItem("tracker-theme"); } catch (e) { return null; }
  }
  var now = order.indexOf(stored()) >= 0 ? stored() : "system";
  function apply() {
    var dark = now === "dark" || (now === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
    root.dataset.theme = dark ? "dark" : "light";
    dispatchEvent(new Event("themechange"));
  }
  root.dataset.js = "";
  apply();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", apply);
  addEventListener("DOMContentLoaded", function () {
    var button = document.getElementById("theme");
    function label() {
      button.textContent = names[now];
      button.setAttribute("aria-label", "Theme: " + names[now] + ". Change");
    }
    label();
    button.hidden = false;
    button.addEventListener("click", function () {
      now = order[(order.indexOf(now) + 1) % order.length];
      try { localStorage.setItem("tracker-theme", now); } catch (e) { /* private mode: for this page only */ }
      apply();
      label();
    });
  });
})();
