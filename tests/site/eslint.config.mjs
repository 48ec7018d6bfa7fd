// Rules for the scripts of the site (classic scripts) and of its tests (modules). ci/lint runs it.
import js from "@eslint/js";
import globals from "globals";

const rules = {
  ...js.configs.recommended.rules,
  "max-lines-per-function": ["error", { max: 40, skipComments: true }],
  "no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
  "no-var": "error",
  "prefer-arrow-callback": "error",
  "prefer-const": "error",
  "prefer-template": "error",
  eqeqeq: "error",
};

export default [
  {
    files: ["templates/assets/*.js"],
    languageOptions: {
      ecmaVersion: 2023,
      sourceType: "script",
      globals: { ...globals.browser, Chart: "readonly" },
    },
    rules: { ...rules, strict: ["error", "global"] },
  },
  {
    // Functions passed to page.evaluate() run in the page.
    files: ["tests/site/**/*.mjs", "tests/bench/*.mjs"],
    languageOptions: {
      ecmaVersion: 2024,
      sourceType: "module",
      globals: { ...globals.node, ...globals.browser, Chart: "readonly", tracker: "readonly" },
    },
    rules: { ...rules, "max-lines-per-function": ["error", { max: 80 }] },
  },
];
