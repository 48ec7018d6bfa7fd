// Compares two backends, devices, nights or revisions over the problems that both have. History is
// loaded on demand. The choices are in the address.
"use strict";
{
  const { comparison, data, distribution, dom, format, keys, state } = window.tracker;
  const { byId } = dom;
  const { contenders, problems } = comparison;
  const SIDES = ["a", "b"];
  const WHENS = [
    ["newest night", "0"],
    ["a week before", "1"],
    ["a month before", "2"],
    ["a night \u2026", "night"],
    ["a revision \u2026", "rev"],
  ];
  const NO_DIFFERENCE = "no significant difference";
  const TOO_FEW = "not enough samples";
  const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
  const same = (values) => values.map((value) => [value, value]);
  const contenderKeys = contenders.map(({ key }) => key);
  const ops = dom.unique(problems.map(({ op }) => op));
  const types = dom.unique(problems.map(({ type }) => type)).sort();

  function setOptions(select, options) {
    select.replaceChildren(...options.map(([text, value]) => new Option(text, value)));
  }

  const { tie } = comparison.index;

  // The same backend at two times has a before and an after.
  const isOverTime = () => sideOf("a").contender === sideOf("b").contender;

  // Both intervals apart, and by more than what counts as a tie.
  const isSignificant = ({ isKnown, lo, hi, ratio }) =>
    isKnown && (lo > 1 || hi < 1) && Math.abs(ratio - 1) >= tie;

  const sideOf = (name) => ({
    contender: contenders[contenderKeys.indexOf(byId(name).value)],
    when: byId(`${name}-age`).value,
    at: byId(`${name}-at`).value,
  });

  // The device is named if the sides differ in it.
  function sideName(name) {
    const { contender, when, at } = sideOf(name);
    const other = sideOf(name === "a" ? "b" : "a").contender;
    const base = contender.device === other.device ? contender.variant : contender.key;
    if (when === "night") return `${base}, ${at}`;
    if (when === "rev") return `${base}, ${format.shortRevision(at)}`;
    return +when ? `${base}, ${byId(`${name}-age`).selectedOptions[0].text}` : base;
  }

  // ---- table ----

  // Left of the middle: the first side is slower; right: it is faster. Thin line: interval.
  function ratioBar({ ratio, lo, hi, isKnown }, maxLog) {
    const x = (value) => 50 + Math.max(-1, Math.min(1, Math.log(value) / maxLog)) * 48;
    const kind = lo > 1 ? "first" : hi < 1 ? "second" : "noise";
    const paths = [
      ["middle", "M50 0V10"],
      [kind, `M50 3H${x(ratio)}V7H50z`],
    ];
    if (isKnown) paths.push(["interval", `M${x(lo)} 5H${x(hi)}`]);
    return dom.svg(
      "svg",
      {
        viewBox: "0 0 100 10",
        class: "versus-bar",
        "aria-hidden": "true",
        preserveAspectRatio: "none",
      },
      ...paths.map(([name, d]) => dom.svg("path", { class: name, d })),
    );
  }

  function timeCell({ value, lo, hi, isKnown, file }) {
    const link = dom.element("a", {
      textContent: format.value(value, "ns"),
      href: `series/${file}.html`,
    });
    const note = isKnown ? format.halfWidth(value, lo, hi) : "one sample";
    const width = dom.element("span", { className: "sub", textContent: note });
    return dom.element("td", { className: "num c-side" }, link, " ", width);
  }

  function resultText(row) {
    if (!row.isKnown) return TOO_FEW;
    if (!isSignificant(row)) return NO_DIFFERENCE;
    if (isOverTime()) return row.ratio > 1 ? "slower" : "faster";
    return sideName(row.ratio > 1 ? "a" : "b");
  }

  const numberCell = (text) => dom.element("td", { className: "num", textContent: text });

  function tableRow(row, maxLog) {
    const faster = dom.element("span", { className: "sub", textContent: resultText(row) });
    return dom.element(
      "tr",
      {},
      dom.element("th", { scope: "row", textContent: row.problem.title }),
      timeCell(row.a),
      timeCell(row.b),
      numberCell(format.change(row.ratio - 1)),
      numberCell(format.factor(row.ratio)),
      dom.element("td", {}, ratioBar(row, maxLog), faster),
    );
  }

  // ---- summary ----

  function recommendation({ count, wins, losses, mean }) {
    if (!count) return TOO_FEW;
    if (wins + losses === 0) return NO_DIFFERENCE;
    return sideName(mean > 1 ? "a" : "b");
  }

  function summaryRow(title, rows) {
    const total = comparison.summarize(rows);
    const mean = total.count ? format.factor(total.mean) : "\u2013";
    return dom.element(
      "tr",
      {},
      dom.element("th", { scope: "row", textContent: title }),
      dom.element("td", { textContent: recommendation(total) }),
      numberCell(total.isUnreliable ? `${mean} (unreliable)` : mean),
      ...[total.wins, total.losses, total.ties].map((count) => numberCell(String(count))),
    );
  }

  function showSummary(rows) {
    const title = ({ problem }) => `${problem.op} ${problem.type}`;
    const titles = dom.unique(rows.map(title));
    byId("summary").hidden = titles.length < 2;
    byId("summary-rows").replaceChildren(
      ...titles.map((name) =>
        summaryRow(
          name,
          rows.filter((row) => title(row) === name),
        ),
      ),
    );
    for (const name of SIDES) byId(`summary-${name}`).textContent = `${sideName(name)} faster`;
  }

  // The result in one or a few sentences.
  function verdict(rows) {
    const [a, b] = SIDES.map(sideName);
    const { count, unknown, wins, losses, ties, unstable, isUnreliable, mean } =
      comparison.summarize(rows);
    if (!rows.length) {
      const hasTimes = SIDES.some((name) => comparison.needsHistory(sideOf(name)));
      return `They have no problem in common${hasTimes ? " at these times" : ""}.`;
    }
    const sentences = [];
    if (count && isOverTime()) {
      sentences.push(
        `The time changed by ${format.change(mean - 1)} from ${a} to ${b} ` +
          `(geometric mean of ${plural(count, "problem")}).`,
        `${losses} faster, ${wins} slower, ${NO_DIFFERENCE} in ${ties}.`,
      );
    } else if (count) {
      const problems = plural(count, "problem");
      const ratio = Math.max(mean, 1 / mean);
      const size = ratio < 2 ? format.change(ratio - 1).slice(1) : format.factor(ratio);
      const word = mean > 1 ? "slower" : "faster";
      sentences.push(
        ratio < 1.005
          ? `${a} and ${b} are equally fast (${problems}).`
          : `${b} is ${size} ${word} than ${a} (geometric mean of ${problems}).`,
      );
      const even = ties ? `, ${NO_DIFFERENCE} in ${ties}` : "";
      sentences.push(`${a} is faster in ${wins}, ${b} in ${losses}${even}.`);
    }
    if (isUnreliable) {
      const share = `${unstable} of ${count} timings`;
      sentences.push(`The mean is unreliable: ${share} missed their target interval.`);
    }
    if (unknown) sentences.push(`${plural(unknown, "problem")}: ${TOO_FEW} to compare.`);
    return sentences.join(" ");
  }

  // ---- page ----

  function saveState() {
    const ids = ["a", "b", "a-age", "b-age", "a-at", "b-at", "op", "type", "sort"];
    for (const id of ids) {
      const { hidden, value } = byId(id);
      state.set(id, hidden || value === "0" ? "" : value);
    }
    state.set("all", byId("significant").checked ? "" : "1");
  }

  function draw() {
    const filter = { op: byId("op").value, type: byId("type").value };
    const rows = comparison.compare(sideOf("a"), sideOf("b"), filter);
    const sizeOf = ({ ratio }) => Math.abs(Math.log(ratio));
    const sort = byId("sort").value;
    if (sort === "gain") rows.sort((left, right) => right.ratio - left.ratio);
    if (sort === "0") rows.sort((left, right) => sizeOf(right) - sizeOf(left));
    const significant = rows.filter(isSignificant);
    const shown = byId("significant").checked && significant.length ? significant : rows;
    const logs = rows.map(({ ratio }) => Math.abs(Math.log(ratio)));
    const maxLog = Math.max(Math.log(1.1), ...logs);
    saveState();
    const titles = isOverTime() ? { a: "Before", b: "After" } : { a: "First", b: "Second" };
    for (const name of SIDES) {
      byId(`label-${name}`).textContent = titles[name];
      byId(`head-${name}`).textContent = isOverTime()
        ? `${titles[name]}: ${sideName(name)}`
        : sideName(name);
    }
    byId("head-result").textContent = isOverTime() ? "Result" : "Faster";
    const leftOut = rows.length - shown.length;
    byId("left-out").hidden = !leftOut;
    byId("left-out").textContent = `${plural(leftOut, "problem")} without a significant change.`;
    byId("distribution").hidden = !rows.length;
    distribution.draw(byId("distribution"), rows, tie);
    byId("verdict").textContent = verdict(rows);
    byId("rows").replaceChildren(...shown.map((row) => tableRow(row, maxLog)));
    showSummary(rows);
    byId("compare").hidden = !rows.length;
    byId("compare").dataset.ready = String(rows.length);
  }

  // The second choice of a side: which night, or which revision of its upstream.
  async function showTimes(name) {
    const { contender, when } = sideOf(name);
    const select = byId(`${name}-at`);
    const wanted = select.value || state.get(`${name}-at`);
    select.hidden = !comparison.needsHistory({ when });
    if (select.hidden) return;
    if (when === "rev") await data.load([contender.revisionsFile]);
    const options =
      when === "rev" ? comparison.listRevisions(contender) : same(comparison.listNights());
    setOptions(select, options);
    dom.selectValue(select, wanted);
  }

  let loadCount = 0;

  // A later choice while files are on their way cancels the earlier one.
  async function load() {
    const number = ++loadCount;
    byId("compare").dataset.ready = "";
    const sides = SIDES.map(sideOf);
    const manifest = sides.some(comparison.needsHistory) ? [comparison.index.manifest] : [];
    const files = dom.unique(sides.map(({ contender }) => contender.file));
    let failed = await data.load([...files, ...manifest]);
    if (number !== loadCount) return;
    for (const name of SIDES) await showTimes(name);
    if (!failed.length) {
      failed = await data.load(SIDES.flatMap((name) => comparison.historyFiles(sideOf(name))));
    }
    if (number !== loadCount) return;
    draw();
    if (failed.length) {
      byId("verdict").textContent = `Could not load ${failed.join(", ")}. Reload to retry.`;
    }
  }

  function restore() {
    if (!contenders.length) return Promise.resolve();
    const choose = (id, value) => dom.selectValue(byId(id), value);
    SIDES.forEach((name, i) => {
      const key = state.get(name);
      choose(name, contenderKeys.includes(key) ? key : contenderKeys[comparison.index.pair[i]]);
      choose(`${name}-age`, state.get(`${name}-age`));
      setOptions(byId(`${name}-at`), []);
    });
    for (const id of ["op", "type", "sort"]) choose(id, state.get(id));
    byId("significant").checked = !state.get("all");
    return load();
  }

  function swapSides() {
    const ats = SIDES.map((name) => byId(`${name}-at`).value);
    for (const suffix of ["", "-age"]) {
      const [first, second] = SIDES.map((name) => byId(name + suffix));
      [first.value, second.value] = [second.value, first.value];
    }
    SIDES.forEach((name, i) => setOptions(byId(`${name}-at`), same([ats[1 - i]])));
    return load();
  }

  for (const name of SIDES) {
    setOptions(byId(name), same(contenderKeys));
    setOptions(byId(`${name}-age`), WHENS);
  }
  setOptions(byId("op"), [["all kernels", ""], ...same(ops)]);
  setOptions(byId("type"), [["all types", ""], ...same(types)]);
  byId("sides").hidden = false;
  byId("sides").addEventListener("change", load);
  byId("swap").addEventListener("click", swapSides);
  keys.add({ key: "s", description: "swap the sides", run: () => byId("swap").click() });
  state.onChange(restore);
  restore();
}
