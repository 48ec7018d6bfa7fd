// Which pages of a test site the tests visit (all but most nights and revisions), and the test
// runner.
import { readdirSync } from "node:fs";

export const SERIES = "series/epyc-lab.cpu.openblas.gemm-f32-1024x1024x1024-nn.cold.html";

export function pages(site) {
  const all = readdirSync(site, { recursive: true })
    .filter((f) => f.endsWith(".html"))
    .sort();
  const nights = all.filter((f) => /^nights\/\d/.test(f)),
    revisions = all.filter((f) => /^revisions\//.test(f));
  return all
    .filter((f) => !nights.includes(f) && !revisions.includes(f))
    .concat(
      nights.slice(-6),
      revisions.filter((f, i) => i % 12 === 0),
    );
}

// Pages that exist, or look different, only on a site with more series than fit one list.
export function largeKinds(site) {
  const all = readdirSync(site, { recursive: true })
    .filter((f) => f.endsWith(".html"))
    .sort();
  const first = (pattern) => all.find((f) => pattern.test(f));
  return [
    "index.html",
    "lists/index.html",
    "kernels/gemm.html",
    first(/^kernels\/gemm@/),
    first(/^lists\/.*\.gemm\./),
    first(/^lists\/.*\.attention\./),
    first(/^roofline\//),
    first(/^machines\/b/),
    first(/^cards\//),
    first(/^series\//),
    "versions/triton.html",
    "compare.html",
  ];
}

// ONLY=WORDS runs the tests whose names contain WORDS. Returns the number of failures.
export async function runAll(tests) {
  let failed = 0;
  for (const [name, test] of Object.entries(tests)) {
    if (process.env.ONLY && !name.includes(process.env.ONLY)) continue;
    const begin = performance.now();
    try {
      await test();
      console.log(`ok    ${name} (${((performance.now() - begin) / 1000).toFixed(1)} s)`);
    } catch (e) {
      failed++;
      console.log(`FAIL  ${name}\n${e.stack}`);
    }
  }
  return failed;
}
