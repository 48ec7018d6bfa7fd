// The page may be of an earlier night than its data: brings the figures above and the table of nights up to the newest one.
window.KNewest = function (c) {
  "use strict";
  var tiles = document.getElementById("newest"), points = c.main.points, last = points[points.length - 1], before = points[points.length - 2], shown = tiles ? +tiles.dataset.time : 0, root = document.documentElement.dataset.root;
  if (!tiles || !last || last.time <= shown) return;
  function el(tag, text, name) {
    var e = document.createElement(tag);
    e.textContent = text;
    if (name) e.className = name;
    return e;
  }
  function half(p) { return !(p.n > 1 || p.hi > p.lo) ? "" : "\u00b1" + ((p.hi - p.lo) / 2 / p.value * 100).toFixed(1) + " %"; }
  function revision(p) {
    var r = c.names.revisions[p.revision], span = el("span", "", "rev"), link = r && (r[3] ? root + r[3] : r[2]);
    if (!r) return span;
    var e = el(link ? "a" : "code", r[0].slice(0, 12));
    if (link) e.href = link;
    span.append(e);
    return span;
  }
  function put(name, parts) {
    var dd = tiles.querySelector('[data-of="' + name + '"]');
    if (!dd) return;
    dd.textContent = "";
    dd.append.apply(dd, parts);
  }
  var rate = tiles.querySelector('[data-of="rate"]'), was = points.filter(function (p) { return p.time === shown; })[0];
  put("value", [c.number(last.value / c.divisor) + " " + c.unit + " ", el("span", half(last), "sub")]);
  if (rate && was) put("rate", [rate.textContent.replace(/[\d.]+/, function (v) { return (+v * was.value / last.value).toPrecision(4); })]);
  if (before) put("change", [c.change(last.value / before.value - 1)]);
  put("night", [c.minute(last)]);
  put("revision", [revision(last)]);
  var note = document.getElementById("as-of"), body = document.querySelector("table.nights tbody");
  if (note) note.hidden = true;
  if (!body) return;
  points.forEach(function (p, i) {
    if (p.time <= shown) return;
    var tr = el("tr", ""), th = el("th", "", "when"), page = (c.names.nights.page || {})[p.night], change = i ? c.change(p.value / points[i - 1].value - 1) : "", a = el(page ? "a" : "span", c.minute(p)), td = el("td", "");
    if (page) a.href = root + page;
    th.scope = "row";
    th.append(a);
    td.append(revision(p));
    if (i && points[i - 1].environment !== p.environment) td.append(" ", el("span", "environment", "tag tone-note"));
    if (p.flags & 1) td.append(" ", el("span", "throttled", "tag tone-note"));
    if (p.flags & 2) td.append(" ", el("span", "unstable", "tag tone-note"));
    tr.dataset.time = p.time;
    tr.append(th, el("td", c.number(p.value / c.divisor), "num"), el("td", half(p), "num"), el("td", change, "num"), td);
    body.prepend(tr);
    if (body.rows.length > 30) body.deleteRow(-1);
  });
};
