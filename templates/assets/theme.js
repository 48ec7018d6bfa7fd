// Light or dark colours, and the part of the navigation that a phone shows. Runs in
// <head>, so that the first paint already has the stored theme.
"use strict";
{
  const STORAGE_KEY = "tracker-theme";
  const THEMES = { system: "System", light: "Light", dark: "Dark" };
  const root = document.documentElement;
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");

  // localStorage throws in private windows and where storage is switched off.
  function loadTheme() {
    try {
      const stored = localStorage.getItem(STORAGE_KEY);
      return stored in THEMES ? stored : "system";
    } catch {
      return "system";
    }
  }

  function storeTheme(theme) {
    try {
      localStorage.setItem(STORAGE_KEY, theme);
    } catch {
      // The choice then lasts for this page only.
    }
  }

  let theme = loadTheme();

  function applyTheme() {
    const isDark = theme === "dark" || (theme === "system" && prefersDark.matches);
    root.dataset.theme = isDark ? "dark" : "light";
    dispatchEvent(new Event("stylechange"));
  }

  function nextTheme() {
    const names = Object.keys(THEMES);
    return names[(names.indexOf(theme) + 1) % names.length];
  }

  function setUpButton() {
    const button = document.getElementById("theme");
    const label = () => {
      button.textContent = THEMES[theme];
      button.setAttribute("aria-label", `Theme: ${THEMES[theme]}. Change`);
    };
    label();
    button.hidden = false;
    button.addEventListener("click", () => {
      theme = nextTheme();
      storeTheme(theme);
      applyTheme();
      label();
    });
  }

  // Paper is light. A canvas has the colours that it was drawn with.
  function applyPaper() {
    if (root.dataset.theme === "light") return;
    root.dataset.theme = "light";
    dispatchEvent(new Event("stylechange"));
  }

  // A phone shows a part of the navigation.
  function showCurrentSection() {
    if (innerWidth > 720) return;
    const item = document.querySelector(".top [aria-current]");
    const nav = item?.closest("nav");
    if (nav) nav.scrollLeft = item.offsetLeft - (nav.clientWidth - item.offsetWidth) / 2;
  }

  root.dataset.js = "";
  applyTheme();
  prefersDark.addEventListener("change", applyTheme);
  addEventListener("beforeprint", applyPaper);
  addEventListener("afterprint", applyTheme);
  addEventListener("DOMContentLoaded", setUpButton);
  addEventListener("DOMContentLoaded", showCurrentSection);
}
