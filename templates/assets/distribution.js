// How many problems of a comparison changed by how much: a bar for each range of changes.
"use strict";
{
  const { dom, format } = window.tracker;
  const LIMITS = [0.02, 0.05, 0.1, 0.2];
  const WIDTH = 720;
  const HEIGHT = 96;
  const BASE = 74; // y of the lower ends of the bars

  // [{ from, to, count }]: changes from below -20 % to above 20 %; the middle one is a tie.
  function countChanges(changes, tie) {
    const limits = [tie, ...LIMITS.filter((limit) => limit > tie)];
    const ends = [...limits.map((limit) => -limit).reverse(), ...limits];
    return [-Infinity, ...ends].map((from, i) => {
      const to = ends[i] ?? Infinity;
      return { from, to, count: changes.filter((value) => value >= from && value < to).length };
    });
  }

  // "−20 %": the limits are round.
  const limitText = (limit) => {
    const percent = +(Math.abs(limit) * 100).toFixed(2);
    return `${limit < 0 ? "\u2212" : "+"}${percent}\u00a0%`;
  };

  function rangeName({ from, to }) {
    if (from === -Infinity) return `below ${format.change(to)}`;
    if (to === Infinity) return `above ${format.change(from)}`;
    return `${format.change(from)} to ${format.change(to)}`;
  }

  // rows: of tracker.comparison.compare().
  function draw(figure, rows, tie) {
    const bins = countChanges(
      rows.map(({ ratio }) => ratio - 1),
      tie,
    );
    const highest = Math.max(...bins.map(({ count }) => count), 1);
    const width = WIDTH / bins.length;
    const words = bins.filter(({ count }) => count).map((bin) => `${rangeName(bin)}: ${bin.count}`);
    const svg = dom.svg("svg", {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      class: "bins",
      role: "img",
      "aria-label": `Distribution of changes. ${words.join("; ")}.`,
    });
    bins.forEach(({ from, to, count }, i) => {
      const height = (count / highest) * (BASE - 18);
      const middle = (i + 0.5) * width;
      const kind = to <= 0 ? "first" : from >= 0 ? "second" : "even";
      const x = i * width + 3;
      svg.append(
        dom.svg("rect", { class: kind, x, y: BASE - height, width: width - 6, height }),
        dom.svg("text", { x: middle, y: BASE - height - 4 }, count ? String(count) : ""),
      );
      if (Number.isFinite(to)) {
        svg.append(dom.svg("text", { x: (i + 1) * width, y: BASE + 14 }, limitText(to)));
      }
    });
    const caption = "Problems by change; the middle bar is no practical difference";
    figure.replaceChildren(
      svg,
      dom.element("figcaption", { className: "muted", textContent: caption }),
    );
  }

  window.tracker.distribution = { countChanges, draw };
}
