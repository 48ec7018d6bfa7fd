// The maps of a kernel's page as speed-ups of one backend over another. The choice is in the
// address: of=BACKEND&over=BACKEND.
"use strict";
{
  const { dom, format, state } = window.tracker;
  const NOTE_BEST = "the best other";
  const tie = +dom.byId("tools").dataset.tie;
  const LEGEND_RATIOS = [0.25, 0.5, 0.8, 0.95, 1, 1.05, 1.25, 2, 4];
  const END_UNIT = 1e-4; // of the interval ends in data-ends: relative to the median

  function readCell(cell) {
    const link = cell.querySelector("a");
    const lead = cell.querySelector(".lead");
    const ends = cell.dataset.ends.split(" ").map((pair) => pair.split(",").map(Number));
    const original = {
      link: link.textContent,
      lead: lead.textContent,
      className: cell.className,
    };
    return { cell, link, lead, ends, original, times: cell.dataset.times.split(" ").map(Number) };
  }

  // The fastest backend other than `excluded`; -1: none.
  function findBestOther(times, excluded) {
    let best = -1;
    times.forEach((time, i) => {
      if (time > 0 && i !== excluded && !(times[best] <= time)) best = i;
    });
    return best;
  }

  // Two backends differ where their intervals do not overlap and the times differ by enough.
  function comparison({ times, ends }, first, second) {
    if (first === second) return "";
    const [fast, slow] = times[first] <= times[second] ? [first, second] : [second, first];
    if (times[slow] < times[fast] * (1 + tie)) return "tie";
    if (ends[fast].length < 2 || ends[slow].length < 2) return "no interval";
    const fastEnd = times[fast] * (1 + ends[fast][1] * END_UNIT);
    const slowEnd = times[slow] * (1 - ends[slow][0] * END_UNIT);
    if (fastEnd >= slowEnd) return "tie";
    return fast === first ? "faster" : "slower";
  }

  // Strength of the colour in percent. It grows with every factor and never reaches its end.
  const strength = (ratio) => 4 + 54 * (1 - Math.exp(-Math.abs(Math.log(ratio)) / 1.2));

  function paint(cell, ratio) {
    cell.className = ratio >= 1 ? "speed-up" : "slow-down";
    cell.style.setProperty("--strength", `${strength(ratio).toFixed(1)}%`);
  }

  // What the colours mean.
  function makeScale() {
    const cells = LEGEND_RATIOS.map((ratio) => {
      const cell = dom.element("span", { textContent: `${ratio}\u00d7` });
      if (ratio !== 1) paint(cell, ratio);
      return cell;
    });
    const properties = { className: "map-scale", hidden: true, ariaHidden: "true" };
    return dom.element("p", properties, ...cells);
  }

  function restoreCell({ cell, link, lead, original }) {
    link.textContent = original.link;
    lead.textContent = original.lead;
    cell.className = original.className;
  }

  function showSpeedUp(entry, first, second) {
    const { cell, link, lead, times } = entry;
    const other = second >= 0 ? second : findBestOther(times, first);
    const ratio = other >= 0 && times[first] > 0 ? times[other] / times[first] : NaN;
    const word = ratio > 0 ? comparison(entry, first, other) : "";
    const isColoured = word === "faster" || word === "slower";
    link.textContent = ratio > 0 ? format.factor(ratio) : "\u2013";
    lead.textContent = word;
    cell.className = "";
    if (isColoured) paint(cell, ratio);
  }

  const describe = (first, second) =>
    `Speed-up of ${first} over ${second || NOTE_BEST}. Blue: faster. ` +
    "Orange: slower. Tie: the intervals overlap, or the times hardly differ.";

  // The controls of one device's maps; returns a function that shows the choices of the address.
  function setUp(holder, index) {
    const section = holder.closest("section");
    const note = section.querySelector(".map-note");
    const originalNote = note.textContent;
    const scale = makeScale();
    note.before(scale);
    const heads = dom.all("table.compare thead th.num", section);
    const names = heads.map((head) => head.textContent.trim());
    const cells = dom.all("table.map td[data-times]", section).map(readCell);
    const used = names.filter((_, i) => cells.some(({ times }) => times[i] > 0));

    const choose = (key, title, none) => {
      const options = [[none, ""], ...used.map((name) => [name, name])];
      const { label, select } = dom.labelledSelect(`map-${key}${index}`, title, options);
      select.addEventListener("change", () => {
        state.set(key, select.value);
        showAll();
      });
      holder.append(label, select);
      return select;
    };
    const first = choose("of", "Speed of", "the best");
    const second = choose("over", "relative to", NOTE_BEST);
    holder.hidden = false;

    return () => {
      dom.selectValue(first, state.get("of"));
      dom.selectValue(second, state.get("over"));
      const [i, k] = [names.indexOf(first.value), names.indexOf(second.value)];
      second.disabled = i < 0;
      scale.hidden = i < 0;
      note.textContent = i < 0 ? originalNote : describe(first.value, second.value);
      for (const entry of cells) {
        if (i < 0) restoreCell(entry);
        else showSpeedUp(entry, i, k);
      }
    };
  }

  const maps = dom.all(".map-tools").map(setUp);
  function showAll() {
    for (const show of maps) show();
  }
  state.onChange(showAll);
  showAll();
}
