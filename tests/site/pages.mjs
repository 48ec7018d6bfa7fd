// Which pages of a test site are looked at: one of every kind and those of the hostile names, and not each of a hundred nights.
import { readdirSync } from 'node:fs';

export const SERIES = 'series/epyc-lab.cpu.openblas.gemm-f32-1024x1024x1024-nn.cold.html';

export function pages(site) {
  const all = readdirSync(site, { recursive: true }).filter(f => f.endsWith('.html')).sort();
  const nights = all.filter(f => /^nights\/\d/.test(f)), revisions = all.filter(f => /^revisions\//.test(f));
  return all.filter(f => !nights.includes(f) && !revisions.includes(f)).concat(nights.slice(-6), revisions.filter((f, i) => i % 12 === 0));
}
