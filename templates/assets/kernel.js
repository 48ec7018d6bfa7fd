// Ranks the tables of a kernel's page by another metric than time. The choice is in the address.
"use strict";
{
  const { dom, format, state } = window.tracker;
  const inUnit = (unit) => (value) => format.value(value, unit);

  // The numbers in data-more of a cell; "-" where one is unknown.
  const numbersOf = (cell) => (cell.dataset.more ?? "").split(" ").map(parseFloat);

  // "974.6 · 981.2 · 1,020 µs"
  function percentilesText(cell) {
    const [p50, ...others] = numbersOf(cell);
    const { divisor, unit } = format.chooseScale(p50, "ns");
    const texts = [p50, ...others.slice(0, 2)].map((value) => format.number(value / divisor));
    return `${texts.join(" \u00b7 ")} ${unit}`;
  }

  // In the order of the numbers.
  const METRICS = [
    {
      key: "percentiles",
      title: "p50 \u00b7 p95 \u00b7 p99",
      needs: "p95",
      index: 1,
      text: inUnit("ns"),
      cellText: percentilesText,
      // in a chart: from the median to the slowest
      rangeOf(cell) {
        const [p50, p95, p99] = numbersOf(cell);
        return { y: p50, lo: p50, hi: p99 || p95 };
      },
    },
    { key: "p95", title: "95th percentile", text: inUnit("ns") },
    { key: "p99", title: "99th percentile", text: inUnit("ns") },
    { key: "energy", title: "Energy per run", text: inUnit("J") },
    { key: "workspace", title: "Workspace", text: inUnit("bytes") },
    { key: "memory", title: "Device memory", text: inUnit("bytes") },
    { key: "launch", title: "Launch cost", text: inUnit("ns") },
    { key: "build", title: "Build time", text: (value) => format.value(value * 1e9, "ns") },
  ].map((metric, i) => ({
    ...metric,
    valueOf: (cell) => numbersOf(cell)[metric.index ?? i] ?? NaN, // NaN: unknown
  }));
  window.tracker.findMetric = (key) => METRICS.find((metric) => metric.key === key);

  const select = dom.byId("metric");
  const tools = dom.byId("tools");
  const tables = dom.all("table.compare").map((table) => ({ table, original: null }));
  const tie = +tools.dataset.tie; // values that differ by less share the first place
  let isRanked = false;

  const isTie = (value, best) => value < best * (1 + tie) || value === best;

  function ratioText(value, best, isBest) {
    if (!(value >= 0) || !(best >= 0)) return "";
    if (isBest) return "best";
    if (isTie(value, best)) return "tie";
    return best > 0 ? format.factor(value / best) : "more";
  }

  // Shows the metric in a cell: value, ratio to the best of the row, bar.
  function updateCell(cell, value, best, metric, isBest) {
    const link = cell.querySelector("a");
    if (!link || link.querySelector(".tag")) return;
    cell.classList.toggle("best", isBest);
    const text = metric.cellText ? metric.cellText(cell) : metric.text(value);
    link.textContent = value >= 0 ? text : "unknown";
    const ratio = cell.querySelector(".ratio");
    if (ratio) {
      const part = value === best ? 1 : best > 0 && value > 0 ? best / value : 0;
      ratio.textContent = ratioText(value, best, isBest);
      cell.className = cell.className.replace(/\bw\d+/, `w${2 * Math.round(50 * part)}`);
    }
    const note = cell.querySelector(":scope > .sub");
    if (note) note.textContent = "";
  }

  // Adds a row to the totals of the columns: [{ logSum, shared, wins }].
  function rankRow(row, metric, totals) {
    const cells = [...row.cells].slice(1);
    const values = cells.map(metric.valueOf);
    const known = values.filter((value) => value >= 0);
    const best = known.length > 1 ? Math.min(...known) : NaN;
    const isClear = known.filter((value) => isTie(value, best)).length === 1;
    cells.forEach((cell, i) => {
      const value = values[i];
      const isBest = isClear && value === best;
      updateCell(cell, value, best, metric, isBest);
      if (!(best >= 0) || !(value >= 0)) return;
      totals[i].wins += isBest;
      if (best > 0) {
        totals[i].logSum += Math.log(value / best);
        totals[i].shared++;
      }
    });
  }

  function rank(entry, metric) {
    const { table } = entry;
    entry.original ??= {
      body: table.tBodies[0].cloneNode(true),
      foot: table.tFoot.cloneNode(true),
    };
    const columns = [...table.tHead.rows[0].cells].slice(1);
    const totals = columns.map(() => ({ logSum: 0, shared: 0, wins: 0 }));
    for (const row of table.tBodies[0].rows) rankRow(row, metric, totals);
    const [means, wins] = table.tFoot.rows;
    table.tFoot.querySelector(".metric-name").textContent = metric.title;
    totals.forEach((total, i) => {
      const mean = Math.exp(total.logSum / total.shared);
      means.cells[i + 1].textContent = total.shared
        ? `${format.factor(mean)} of ${total.shared}`
        : "\u2013";
      wins.cells[i + 1].textContent = total.wins;
    });
  }

  function restoreTable({ table, original }) {
    if (!original) return;
    table.tBodies[0].replaceWith(original.body.cloneNode(true));
    table.tFoot.replaceWith(original.foot.cloneNode(true));
  }

  function showMetric() {
    const metric = METRICS.find(({ key }) => key === select.value) ?? null;
    isRanked = metric !== null;
    tables.forEach(restoreTable);
    if (metric) for (const entry of tables) rank(entry, metric);
    dispatchEvent(new CustomEvent("metricchange", { detail: metric }));
  }

  function restore() {
    dom.selectValue(select, state.get("metric"));
    if (select.value || isRanked) showMetric();
  }

  const available = tools.dataset.metrics.split(" ");
  select.append(new Option("Time", ""));
  for (const { key, title, needs = key } of METRICS) {
    if (available.includes(needs)) select.append(new Option(title, key));
  }
  tools.hidden = select.options.length < 2;
  select.addEventListener("change", () => {
    state.set("metric", select.value);
    showMetric();
  });
  state.onChange(restore);
  restore();
}
