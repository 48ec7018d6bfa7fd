// One night of a series, pinned beside its chart: values, commits, environment, run, and the
// distribution of its samples.
"use strict";
{
  const { chartAxis, chartCanvas, chartOptions, dom, format, trendChart } = window.tracker;
  const box = dom.byId("night-panel");
  let chart = null;

  const link = (text, href) => dom.element("a", { textContent: text, href });

  const button = (text, run) => dom.button(text, run, { className: "plain" });

  const fact = (name, ...parts) => [
    dom.element("dt", { textContent: name }),
    dom.element("dd", {}, ...parts),
  ];

  function valueFacts({ series, view }, point, before) {
    const number = (value) => format.number(value / view.divisor);
    const { unit } = view;
    const change = before ? format.change(point.value / before.value - 1) : "";
    const median = dom.element("b", { textContent: `${number(point.value)} ${unit}` });
    const facts = [
      fact("Median", median, change && ` \u00b7 ${change} from the night before`),
      fact("95 % interval", `${number(point.lo)} to ${number(point.hi)} ${unit}`),
    ];
    if (point.n) facts.push(fact("Samples", String(point.n)));
    if (Number.isFinite(point.q25)) {
      facts.push(fact("Quartiles", `${number(point.q25)} to ${number(point.q75)} ${unit}`));
    }
    if (Number.isFinite(point.p95)) {
      facts.push(fact("95th percentile", `${number(point.p95)} ${unit}`));
    }
    if (Number.isFinite(point.min)) {
      facts.push(fact("Fastest sample", `${number(point.min)} ${unit}`));
    }
    if (series.ceiling > 0) {
      facts.push(fact("Roofline efficiency", format.percent(series.ceiling / point.value)));
    }
    return facts;
  }

  // The forge's page of the commits between two revisions; "" if it has none.
  function compareUrl(before, after) {
    if (!before || !after || before === after) return "";
    const [, forge] = /^(.*\/)commit\/[^/]+$/.exec(after[2]) ?? [];
    return forge && before[2].startsWith(forge) ? `${forge}compare/${before[0]}...${after[0]}` : "";
  }

  function revisionFacts({ names }, point, before) {
    const revision = names.revisions[point.revision];
    if (!revision) return [];
    const [id, subject, url, page] = revision;
    const short = format.shortRevision(id);
    const href = page ? dom.root + page : url;
    const isSame = before?.revision === point.revision;
    const note = isSame ? " (as in the night before)" : "";
    const facts = [fact("Commit", href ? link(short, href) : short, ` ${subject}`, note)];
    const commits = before ? compareUrl(names.revisions[before.revision], revision) : "";
    if (commits) facts.push(fact("Since", link("commits since the night before", commits)));
    else if (url && page) facts.push(fact("Forge", link("the commit on its forge", url)));
    return facts;
  }

  function conditionFacts({ names }, point, before) {
    const facts = [];
    if (before && before.environment !== point.environment) {
      facts.push(fact("Environment", names.environments[point.environment] || "changed"));
    }
    const flags = [
      point.flags & trendChart.FLAG_THROTTLED && "throttled",
      point.flags & trendChart.FLAG_UNSTABLE && "unstable",
    ].filter(Boolean);
    if (flags.length) facts.push(fact("Flags", flags.join(", ")));
    return facts;
  }

  function runFacts({ names }, point) {
    const page = names.nights.page?.[point.night];
    const night = page ? link(`night of ${format.minute(point.time)}`, dom.root + page) : "";
    if (!point.run) return night ? [fact("Night", night)] : [];
    const command = dom.element("code", { textContent: `tracker show ${point.run}` });
    return [fact("Run", night, night && " \u00b7 ", command)];
  }

  // ---- distribution of the samples ----

  // Empirical distribution function: the share of the samples that took at most x.
  function ecdfPoints(samples, divisor) {
    return samples.map((value, i) => ({ x: value / divisor, y: ((i + 1) / samples.length) * 100 }));
  }

  function ecdfDatasets({ series, view }, point, before) {
    const nights = [
      [before, "--c2", "night before"],
      [point, "--c1", "this night"],
    ];
    return nights
      .filter(([night]) => night && series.samples[night.run])
      .map(([night, colour, label]) => ({
        label,
        data: ecdfPoints(series.samples[night.run], view.divisor),
        borderColor: dom.colour(colour),
        backgroundColor: dom.colour(colour),
        stepped: true,
        pointRadius: 0,
        borderWidth: 2,
      }));
  }

  const ecdfOptions = (unit) =>
    chartOptions({
      scales: {
        x: chartAxis({
          title: unit,
          ticks: { autoSkip: true, maxTicksLimit: 5, callback: format.number },
        }),
        y: chartAxis({ min: 0, max: 100, title: "% of samples", ticks: { stepSize: 25 } }),
      },
      plugins: {
        legend: { labels: { pointStyle: "line" } },
        zoom: false,
        annotation: false,
        tooltip: { enabled: false },
      },
    });

  function drawEcdf(holder, trend, point, before) {
    chart?.destroy();
    chart = null;
    const datasets = ecdfDatasets(trend, point, before);
    if (datasets.length) {
      const canvas = chartCanvas("Cumulative distribution of the samples");
      holder.append(dom.element("div", { className: "ecdf" }, canvas));
      chart = new Chart(canvas, {
        type: "line",
        data: { datasets },
        options: ecdfOptions(trend.view.unit),
      });
    }
    box.dataset.samples = datasets.length;
  }

  // ---- panel ----

  function header(trend, i, point) {
    return dom.element(
      "div",
      { className: "panel-head" },
      dom.element("h3", { textContent: `Night of ${format.minute(point.time)}` }),
      button("\u2190 Earlier", () => trend.pin(i - 1)),
      button("Later \u2192", () => trend.pin(i + 1)),
      button("Use as baseline", () => trend.setBaseline(point)),
      button("Close", () => trend.reset()),
    );
  }

  window.tracker.nightPanel = {
    // trend: of trend.js; i: index of the point.
    show(trend, i) {
      const [before, point] = [trend.series.points[i - 1], trend.series.points[i]];
      const facts = [
        ...valueFacts(trend, point, before),
        ...revisionFacts(trend, point, before),
        ...conditionFacts(trend, point, before),
        ...runFacts(trend, point),
      ];
      const list = dom.element("dl", { className: "facts" }, ...facts.flat());
      const body = dom.element("div", { className: "panel-body" }, list);
      box.replaceChildren(header(trend, i, point), body);
      box.hidden = false;
      drawEcdf(body, trend, point, before);
    },
    hide() {
      box.hidden = true;
      chart?.destroy();
      chart = null;
    },
  };
}
