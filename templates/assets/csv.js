// Downloads the points of a trend as CSV.
"use strict";
{
  // Quotes a field. A leading "=", "+", "-" or "@" would be a formula in a spreadsheet.
  function quote(text) {
    if (!/^[=+\-@\t]|[",\n]/.test(text)) return text;
    return `"${text.replace(/^([=+\-@\t])/, "'$1").replaceAll('"', '""')}"`;
  }

  function line(point, unit, [revision, subject] = ["", ""]) {
    const time = `${new Date(point.time * 1000).toISOString().slice(0, 19)}Z`;
    const numbers = [point.value, point.lo, point.hi].map((value) => +value.toPrecision(6));
    return [time, ...numbers, unit, quote(revision), quote(subject)].join(",");
  }

  window.tracker.downloadCsv = ({ id, series, names }) => {
    const header = "time,value,lo,hi,unit,revision,subject";
    const lines = series.points.map((point) =>
      line(point, series.unit, names.revisions[point.revision]),
    );
    const blob = new Blob([`${[header, ...lines].join("\n")}\n`], { type: "text/csv" });
    const link = window.tracker.dom.element("a", {
      href: URL.createObjectURL(blob),
      download: `${id.replace(/[^A-Za-z0-9._-]+/g, "_")}.csv`,
    });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
}
