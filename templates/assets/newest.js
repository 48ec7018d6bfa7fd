// A page of a series may be older than its data, because not every page is written every night.
// This brings its figures and its table of nights up to the newest night.
"use strict";
window.tracker ??= {};
{
  const { dom, format, trendChart } = window.tracker;
  const ROWS_MAX = 30;

  function revisionNode({ names }, point) {
    const revision = names.revisions[point.revision];
    if (!revision) return dom.element("span", { className: "rev" });
    const [id, , url, page] = revision;
    const textContent = format.shortRevision(id);
    const href = page ? dom.root + page : url;
    const node = href
      ? dom.element("a", { textContent, href })
      : dom.element("code", { textContent });
    return dom.element("span", { className: "rev" }, node);
  }

  const valueText = ({ view }, point) => format.number(point.value / view.divisor);

  const changeText = (point, before) =>
    before ? format.change(point.value / before.value - 1) : "";

  function updateTiles(trend, tiles, shown, [before, newest]) {
    const field = (name) => tiles.querySelector(`[data-field="${name}"]`);
    const fill = (name, ...parts) => field(name)?.replaceChildren(...parts);
    const width = dom.element("span", {
      className: "sub",
      textContent: format.pointHalfWidth(newest),
    });
    fill("value", `${valueText(trend, newest)}\u00a0${trend.view.unit} `, width);
    const rate = field("rate");
    if (rate && shown) {
      const ratio = shown.value / newest.value;
      const text = rate.textContent.replace(/[\d.]+/, (number) => format.number(number * ratio));
      rate.replaceChildren(text);
    }
    if (before) fill("change", changeText(newest, before));
    fill("night", format.minute(newest.time));
    fill("revision", revisionNode(trend, newest));
  }

  function revisionCell(trend, point, before) {
    const cell = dom.element("td", {}, revisionNode(trend, point));
    const tags = [
      before && before.environment !== point.environment && "environment",
      point.flags & trendChart.FLAG_THROTTLED && "throttled",
      point.flags & trendChart.FLAG_UNSTABLE && "unstable",
    ].filter(Boolean);
    for (const textContent of tags) {
      cell.append(" ", dom.element("span", { className: "tag tone-note", textContent }));
    }
    return cell;
  }

  function nightRow(trend, point, before) {
    const textContent = format.minute(point.time);
    const page = trend.names.nights.page?.[point.night];
    const night = page
      ? dom.element("a", { textContent, href: dom.root + page })
      : dom.element("span", { textContent });
    const number = (text) => dom.element("td", { className: "num", textContent: text });
    const row = dom.element(
      "tr",
      {},
      dom.element("th", { scope: "row", className: "when" }, night),
      number(valueText(trend, point)),
      number(format.pointHalfWidth(point)),
      number(changeText(point, before)),
      revisionCell(trend, point, before),
    );
    row.dataset.time = point.time;
    return row;
  }

  function addRows(trend, body, shownTime) {
    trend.series.points.forEach((point, i, points) => {
      if (point.time <= shownTime) return;
      body.prepend(nightRow(trend, point, points[i - 1]));
      if (body.rows.length > ROWS_MAX) body.deleteRow(-1);
    });
  }

  function refresh(trend) {
    const tiles = dom.byId("newest");
    const { points } = trend.series;
    const shownTime = tiles ? +tiles.dataset.time : 0;
    if (!tiles || !points.length || points.at(-1).time <= shownTime) return;
    const shown = points.find((point) => point.time === shownTime);
    updateTiles(trend, tiles, shown, [points.at(-2), points.at(-1)]);
    dom.byId("as-of")?.setAttribute("hidden", "");
    const body = document.querySelector("table.nights tbody");
    if (body) addRows(trend, body, shownTime);
  }

  window.tracker.newest = { refresh };
}
