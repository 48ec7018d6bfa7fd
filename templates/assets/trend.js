// The trend of a series: its line and interval, change points, other series laid over it, and one
// night pinned by a click or the arrow keys (night_panel.js shows it).
"use strict";
{
  const { data, dom, format, keys, state, trendChart, TrendView, nightPanel } = window.tracker;
  const OVERLAYS_MAX = 4;
  const NARROW_PX = 560;

  class Trend {
    constructor(figure, series) {
      this.figure = figure;
      this.canvas = dom.byId("canvas");
      this.tools = dom.byId("tools");
      this.id = figure.dataset.series;
      this.series = series;
      series.style = +figure.dataset.style;
      series.marks = JSON.parse(figure.dataset.marks || "[]");
      this.olderFiles = (figure.dataset.older ?? "").split(" ").filter(Boolean);
      this.view = new TrendView(series, {
        divisor: +figure.dataset.divisor,
        unit: figure.dataset.unit,
        hasOlder: this.olderFiles.length > 0,
      });
      this.names = {
        revisions: data.get("revisions"),
        nights: data.get("nights"),
        environments: data.get("environments"),
      };
      this.shown = [series];
      this.pinned = -1;
      this.hovered = -1;
      this.rows = new Map(); // index of a point -> its row in the table
    }

    start() {
      this.peers = dom.all("#peers li").map((item) => this.addPeer(item));
      this.tools.hidden = false;
      this.listen();
      this.addShortcuts();
      this.linkRows();
      return this.restore();
    }

    // ---- drawing ----

    draw() {
      const { view } = this;
      const { bounds } = view;
      const hidden = state.list("hide");
      const datasets = this.shown.map((series) =>
        trendChart.dataset(view, series, bounds, hidden.includes(series.id ?? series.label)),
      );
      const visible = datasets.filter((dataset) => !dataset.hidden);
      const drawn = {
        bounds,
        yRange: view.yRange(visible.length ? visible : datasets, bounds),
        isLegendShown: this.shown.length > 1,
        pinned: this.series.points[this.pinned],
      };
      this.update(datasets, trendChart.options(view, this.names, drawn, this.handlers()));
      this.showTools();
      this.figure.dataset.ready = `${datasets.length} ${view.mode}`;
    }

    update(datasets, options) {
      if (this.chart) {
        this.chart.data.datasets = datasets;
        this.chart.options = options;
        this.chart.update("none");
        return;
      }
      this.figure.querySelector(".canvas").hidden = false;
      this.figure.querySelector(".drawn").hidden = true;
      this.chart = new Chart(this.canvas, {
        type: "line",
        data: { datasets },
        options,
        plugins: [window.tracker.intervalBand],
      });
    }

    // With other colours or another font: a chart keeps the widths of texts that it measured.
    drawAgain() {
      this.chart?.destroy();
      this.chart = null;
      this.draw();
    }

    handlers() {
      return {
        onClick: (_event, [hit]) => hit && this.pin(this.indexOfHit(hit)),
        onHover: (_event, hits) => {
          const hit = hits.find(({ datasetIndex }) => datasetIndex === 0);
          this.hover(hit ? this.indexOfHit(hit) : -1);
        },
        onLegendClick: (_event, item) => {
          const series = this.shown[item.datasetIndex];
          state.toggleListItem("hide", series.id ?? series.label);
          this.draw();
        },
        onZoom: ({ chart }) => {
          const [from, to] = [chart.scales.x.min, chart.scales.x.max];
          state.set("range", `${format.day(from * 86400)}..${format.day(to * 86400)}`);
          this.draw();
        },
      };
    }

    showTools() {
      const { view, tools } = this;
      const setPressed = (button, isPressed) => button.setAttribute("aria-pressed", isPressed);
      for (const button of dom.all("[data-range]", tools)) {
        setPressed(button, button.dataset.range === view.range);
      }
      for (const button of dom.all("[data-mode]", tools)) {
        setPressed(button, button.dataset.mode === view.mode);
        button.hidden = !view.hasMode(button.dataset.mode);
        if (button.dataset.mode === "rate") button.textContent = view.rateScale.unit;
      }
      setPressed(tools.querySelector("#log"), view.isLogarithmic);
      tools.querySelector("#show").value = view.quantity;
    }

    // ---- one night ----

    indexOfHit({ datasetIndex, index }) {
      const hit = this.chart.data.datasets[datasetIndex].data[index];
      return hit ? this.series.points.findIndex(({ time }) => time === hit.point.time) : -1;
    }

    highlight(i) {
      const points = this.chart.data.datasets[0].data;
      const index = points.findIndex(({ point }) => point === this.series.points[i]);
      const mark = this.chart.getDatasetMeta(0).data[index];
      if (index < 0 || !mark) return;
      const active = [{ datasetIndex: 0, index }];
      this.chart.setActiveElements(active);
      // On a narrow screen the tooltip would cover the point.
      if (this.figure.clientWidth > NARROW_PX) this.chart.tooltip.setActiveElements(active, mark);
      this.chart.update("none");
    }

    clearHighlight() {
      this.chart.setActiveElements([]);
      this.chart.tooltip.setActiveElements([], { x: 0, y: 0 });
    }

    // Hovering over a row of the table highlights its point, and the other way round.
    linkRows() {
      this.rows.clear();
      const indexes = new Map(this.series.points.map(({ time }, i) => [String(time), i]));
      for (const row of dom.all("table.nights tbody tr")) {
        const i = indexes.get(row.dataset.time);
        if (i === undefined) continue;
        this.rows.set(i, row);
        row.onmouseenter = () => this.highlight(i);
        row.onmouseleave = () => {
          this.clearHighlight();
          this.chart.update("none");
        };
      }
    }

    hover(i) {
      if (i === this.hovered) return;
      this.rows.get(this.hovered)?.classList.remove("linked");
      this.hovered = i;
      this.rows.get(i)?.classList.add("linked");
    }

    pin(i) {
      const point = this.series.points[i];
      if (!point) return;
      this.pinned = i;
      state.set("night", String(point.time));
      this.draw();
      this.highlight(i);
      nightPanel.show(this, i);
    }

    // point: null for the first night.
    setBaseline(point) {
      state.set("base", point ? String(point.time) : "");
      state.set("mode", point ? "base" : "");
      this.draw();
    }

    reset() {
      this.pinned = -1;
      nightPanel.hide();
      state.set("night", "");
      state.set("range", "");
      this.clearHighlight();
      this.draw();
    }

    // ---- files ----

    // kind: "older" years or "overlays". What failed of the other kind stays shown.
    showLoadErrors(kind, files) {
      this.failed = { ...this.failed, [kind]: files };
      const failed = [...new Set(Object.values(this.failed).flat())];
      const note = dom.byId("load-errors");
      note.hidden = !failed.length;
      note.textContent = failed.length
        ? `Could not load ${failed.join(", ")}. Reload to retry.`
        : "";
    }

    // Loads the files of older years where the view, or the caller, needs them.
    async loadOlder(needsAll = false) {
      if (!this.olderFiles.length || !(needsAll || this.view.needsOlder)) return;
      const files = this.olderFiles;
      this.olderFiles = [];
      const failed = await data.load(files.map((file) => dom.root + file));
      this.olderFiles = files.filter((file) => failed.includes(dom.root + file));
      this.showLoadErrors("older", failed);
      Object.assign(this.series, data.series(this.id));
      this.linkRows();
    }

    // ---- other series over this one ----

    addPeer(item) {
      const { series: id, label, files, style } = item.dataset;
      const toggle = () => {
        state.toggleListItem("with", id);
        this.drawOverlays();
      };
      const button = dom.button("Overlay", toggle, { ariaLabel: `Overlay ${label}` });
      item.append(button);
      return {
        id,
        label,
        button,
        style: +style,
        files: files.split(" ").map((file) => dom.root + file),
      };
    }

    async drawOverlays() {
      const wanted = state.list("with").slice(0, OVERLAYS_MAX);
      const active = this.peers.filter(({ id }) => wanted.includes(id));
      this.showLoadErrors("overlays", await data.load(active.flatMap(({ files }) => files)));
      for (const peer of this.peers) {
        peer.button.setAttribute("aria-pressed", active.includes(peer));
      }
      const overlays = active
        .map(({ id, label, style }) => ({ points: [], ...data.series(id), id, label, style }))
        .filter(({ points }) => points.length);
      this.shown = [this.series, ...overlays];
      this.shown.forEach((series, i) => {
        series.isDashed = this.shown.slice(0, i).some(({ style }) => style === series.style);
      });
      this.draw();
    }

    async restore() {
      await this.loadOlder();
      await this.drawOverlays();
      const time = state.get("night");
      if (time) this.pin(this.series.points.findIndex((point) => String(point.time) === time));
    }

    // ---- controls ----

    listen() {
      this.tools.addEventListener("click", ({ target }) => this.onToolClick(target));
      this.tools.querySelector("#show").addEventListener("change", ({ target }) => {
        state.set("show", target.value === "value" ? "" : target.value);
        this.draw();
      });
      this.canvas.addEventListener("keydown", (event) => this.onKey(event));
      this.canvas.addEventListener("dblclick", () => this.reset());
      addEventListener("stylechange", () => this.drawAgain());
      state.onChange(() => this.restore());
    }

    async onToolClick({ id, dataset: { range, mode } }) {
      if (range) state.set("range", range === this.view.defaultRange ? "" : range);
      else if (mode) state.set("mode", mode === "abs" ? "" : mode);
      else if (id === "log") state.set("axis", this.view.isLogarithmic ? "" : "log");
      else if (id === "csv") {
        await this.loadOlder(true);
        window.tracker.downloadCsv(this);
        return;
      } else return;
      await this.loadOlder();
      await this.drawOverlays();
    }

    onKey(event) {
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      const last = this.series.points.length - 1;
      const hasPin = this.pinned >= 0;
      const current = hasPin ? this.pinned : last;
      const targets = {
        ArrowLeft: hasPin ? current - 1 : last,
        ArrowRight: hasPin ? current + 1 : last,
        Home: 0,
        End: last,
        PageUp: current - 10,
        PageDown: current + 10,
      };
      if (event.key === "Escape") this.reset();
      else if (event.key in targets) this.pin(Math.min(Math.max(targets[event.key], 0), last));
      else return;
      event.preventDefault();
    }

    addShortcuts() {
      keys.add({ description: "on the chart: night before, night after", name: "\u2190 \u2192" });
      keys.add({ description: "on the chart: first night, newest night", name: "Home End" });
      keys.add({
        key: "l",
        description: "logarithmic axis",
        run: () => {
          state.set("axis", this.view.isLogarithmic ? "" : "log");
          this.draw();
        },
      });
      keys.add({
        key: "%",
        description: "change relative to the first night shown",
        run: () => {
          state.set("mode", this.view.mode === "pct" ? "" : "pct");
          this.draw();
        },
      });
      keys.add({
        key: "Escape",
        description: "close the panel and show all nights",
        run: () => this.reset(),
      });
    }
  }

  const figure = dom.byId("chart");
  const series = figure && data.series(figure.dataset.series);
  if (series?.points.length && window.Chart) new Trend(figure, series).start();
}
