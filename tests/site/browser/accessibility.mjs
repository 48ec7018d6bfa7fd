// axe on one page of each kind. By itself it takes as long as all other tests of browser/.
import assert from "node:assert/strict";
import { axe, large, largeKinds, open, samples, site, visit } from "./support.mjs";

export const tests = {
  async "axe finds no violation: light, dark, phone"() {
    const { context, page } = await open({ colorScheme: "light" }),
      all = [];
    const check = async (path, what, rules) => {
      await page
        .waitForFunction(() => document.documentElement.scrollWidth <= innerWidth, null, {
          timeout: 2000,
        })
        .catch(() => assert.fail(`${path} ${what}: scrolls sideways`));
      if (rules && !rules.length) return;
      const found = await page.evaluate(
        (rules) =>
          axe.run({
            resultTypes: ["violations"],
            preload: false,
            ...(rules ? { runOnly: rules } : {}),
          }),
        rules,
      );
      all.push(
        ...found.violations.map(
          (v) =>
            `${path} ${what} ${v.id}: ${v.nodes
              .slice(0, 3)
              .map((n) => n.html.slice(0, 160))
              .join(" | ")}`,
        ),
      );
    };
    for (const [root, path] of samples()
      .map((p) => [site, p])
      .concat(largeKinds(large).map((p) => [large, p]))) {
      await page.setViewportSize({ width: 1280, height: 900 });
      await page.emulateMedia({ colorScheme: "light" });
      await visit(page, path, root);
      await page.evaluate(axe);
      await check(path, "light");
      await page.emulateMedia({ colorScheme: "dark" });
      await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
      await check(path, "dark", ["color-contrast"]);
      await page.setViewportSize({ width: 390, height: 844 });
      await check(path, "phone", [
        "color-contrast",
        "target-size",
        "scrollable-region-focusable",
        "link-in-text-block",
      ]);
      await page.setViewportSize({ width: 320, height: 700 });
      await check(path, "small phone", []);
    }
    await context.close();
    assert.deepEqual(all, []);
  },
};
