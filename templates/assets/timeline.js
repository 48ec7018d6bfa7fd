// The timeline of one multiprocessor: a row for each group of warps, a bar for each region that it
// enters. Drag to zoom, drag with Shift to pan, + and - zoom, arrow keys pan, Escape shows all.
"use strict";
{
  const { data, dom, format } = window.tracker;
  const { colour } = dom;
  const LANE = 44; // pixels: what a group does, and below it what goes on beside
  const BAR = 19;
  const AXIS = 24;
  const MIN_SPAN_NS = 50; // the narrowest view
  const COLOURS = {
    "matrix products": "--c3",
    compute: "--c2",
    store: "--c4",
    load: "--c1",
    wait: "--strong-line",
  };

  // Black or white, whichever is easier to read on a colour "#rrggbb" or "#rgb".
  function textColour(background) {
    const digits = background.slice(1);
    const size = digits.length / 3;
    const [red, green, blue] = [0, 1, 2].map((i) => {
      const part = digits.slice(i * size, (i + 1) * size);
      const value = parseInt(size === 1 ? part + part : part, 16) / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18 ? "#000" : "#fff";
  }

  // Steps of 1, 2 or 5 times a power of ten: at most `most` of them.
  function niceStep(range, most) {
    const power = 10 ** Math.floor(Math.log10(range / most));
    return [1, 2, 5, 10].map((factor) => factor * power).find((step) => range / step <= most);
  }

  class Timeline {
    constructor(figure) {
      this.line = data.get(`timeline-${figure.dataset.timeline}`);
      this.box = figure.querySelector(".timeline-canvas");
      this.canvas = figure.querySelector("canvas");
      this.info = figure.querySelector(".timeline-info");
      this.labelWidth = 0;
      this.drag = null;
      this.view = [0, this.line.duration_ns];
      this.box.hidden = false;
      this.info.hidden = false;
      this.box.style.height = `${this.line.lanes.length * LANE + AXIS}px`;
      dom.all(".drawn-plain", figure).forEach((node) => node.remove());
      this.listen(figure);
      this.describe(null);
      this.resize();
    }

    listen(figure) {
      const { canvas } = this;
      new ResizeObserver(() => this.resize()).observe(this.box);
      addEventListener("stylechange", () => this.resize());
      canvas.addEventListener("pointerdown", (event) => this.startDrag(event));
      canvas.addEventListener("pointermove", (event) => this.movePointer(event));
      canvas.addEventListener("pointerup", (event) => this.endDrag(event));
      canvas.addEventListener("pointercancel", () => this.cancelDrag());
      canvas.addEventListener("pointerleave", () => this.drag || this.describe(null));
      canvas.addEventListener("keydown", (event) => this.pressKey(event));
      const tools = document.querySelector(`[data-tools="${figure.dataset.timeline}"]`);
      tools.hidden = false;
      for (const button of dom.all("button", tools))
        button.addEventListener("click", () => this.move(button.dataset.zoom));
    }

    // ---- the view ----

    setView(begin, end) {
      const whole = this.line.duration_ns;
      const size = Math.min(whole, Math.max(MIN_SPAN_NS, end - begin));
      const first = Math.min(Math.max(0, (begin + end - size) / 2), whole - size);
      this.view = [first, first + size];
      this.draw();
    }

    zoom(factor, at = (this.view[0] + this.view[1]) / 2) {
      const [begin, end] = this.view;
      this.setView(at - (at - begin) * factor, at + (end - at) * factor);
    }

    pan(part) {
      const [begin, end] = this.view;
      const by = (end - begin) * part;
      this.setView(begin + by, end + by);
    }

    move(how) {
      const moves = {
        in: () => this.zoom(0.5),
        out: () => this.zoom(2),
        left: () => this.pan(-0.25),
        right: () => this.pan(0.25),
        all: () => this.setView(0, this.line.duration_ns),
      };
      moves[how]();
    }

    pressKey(event) {
      const keys = {
        "+": "in",
        "=": "in",
        "-": "out",
        ArrowLeft: "left",
        ArrowRight: "right",
        Escape: "all",
      };
      const how = keys[event.key];
      if (!how || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      this.move(how);
    }

    // ---- places ----

    plotWidth() {
      return Math.max(1, this.width - this.labelWidth);
    }

    xOf(ns) {
      const [begin, end] = this.view;
      return this.labelWidth + ((ns - begin) / (end - begin)) * this.plotWidth();
    }

    timeAt(x) {
      const [begin, end] = this.view;
      const part = Math.min(1, Math.max(0, (x - this.labelWidth) / this.plotWidth()));
      return begin + part * (end - begin);
    }

    place(event) {
      const { left, top } = this.canvas.getBoundingClientRect();
      return { x: event.clientX - left, y: event.clientY - top };
    }

    // ---- the pointer ----

    // A finger pans, because it cannot hold Shift.
    startDrag(event) {
      if (event.button) return;
      const { x } = this.place(event);
      const pans = event.shiftKey || event.pointerType === "touch";
      this.drag = { x, at: x, pans, view: [...this.view] };
      this.canvas.setPointerCapture(event.pointerId);
    }

    movePointer(event) {
      const { x, y } = this.place(event);
      if (!this.drag) {
        this.describe(this.spanAt(x, y));
        return;
      }
      this.drag.at = x;
      if (this.drag.pans) {
        const [begin, end] = this.drag.view;
        const by = ((this.drag.x - x) / this.plotWidth()) * (end - begin);
        this.setView(begin + by, end + by);
      } else this.draw();
    }

    endDrag(event) {
      if (!this.drag) return;
      const { x, pans } = this.drag;
      const place = this.place(event);
      this.drag = null;
      if (Math.abs(place.x - x) < 4) this.describe(this.spanAt(place.x, place.y));
      else if (!pans)
        this.setView(...[this.timeAt(x), this.timeAt(place.x)].sort((left, right) => left - right));
      this.draw();
    }

    cancelDrag() {
      this.drag = null;
      this.draw();
    }

    spanAt(x, y) {
      const lane = Math.floor(y / LANE);
      const isAsync = y - lane * LANE > BAR + 2;
      const [from, to] = [this.timeAt(x - 1.5), this.timeAt(x + 1.5)];
      if (x < this.labelWidth) return null;
      return this.line.spans.find(
        ([group, , begin, end, async]) =>
          this.line.groups[group][1] === lane && !!async === isAsync && begin <= to && end >= from,
      );
    }

    describe(span) {
      if (!span) {
        this.info.textContent = "Point at a bar, or tap it, for its times.";
        return;
      }
      const [group, region, begin, end] = span;
      const [block, lane] = this.line.groups[group];
      const time = (ns) => format.value(ns, "ns");
      this.info.textContent =
        `${this.line.regions[region].name}: ${time(end - begin)}, from ${time(begin)} ` +
        `to ${time(end)} · block ${block}, ${this.line.lanes[lane]}`;
    }

    // ---- drawing ----

    resize() {
      const { width, height } = this.box.getBoundingClientRect();
      const ratio = window.devicePixelRatio || 1;
      [this.width, this.height] = [width, height];
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
      this.context = this.canvas.getContext("2d");
      this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
      this.context.font = `12px ${getComputedStyle(document.body).fontFamily}`;
      const widths = this.line.lanes.map((lane) => this.context.measureText(lane).width);
      this.labelWidth = Math.min(width * 0.3, Math.max(...widths, 0) + 12);
      this.draw();
    }

    drawAxis() {
      const { context, view } = this;
      const [begin, end] = view;
      const step = niceStep(end - begin, Math.max(2, this.plotWidth() / 110));
      const bottom = this.line.lanes.length * LANE;
      const scale = format.chooseScale(end, "ns");
      const decimals = Math.max(0, -Math.floor(Math.log10(step / scale.divisor) + 1e-9));
      context.textAlign = "center";
      for (let at = Math.ceil(begin / step) * step; at <= end; at += step) {
        const x = this.xOf(at);
        context.fillStyle = colour("--line");
        context.fillRect(Math.round(x), 0, 1, bottom);
        context.fillStyle = colour("--muted");
        const text = `${(at / scale.divisor).toFixed(decimals)} ${scale.unit}`;
        const half = context.measureText(text).width / 2;
        context.fillText(
          text,
          Math.min(Math.max(x, this.labelWidth + half), this.width - half),
          bottom + 16,
        );
      }
    }

    drawLanes() {
      const { context } = this;
      context.textAlign = "left";
      this.line.lanes.forEach((lane, i) => {
        context.fillStyle = colour("--line");
        context.fillRect(0, (i + 1) * LANE - 2, this.width, 1);
        context.fillStyle = colour("--text");
        context.fillText(lane, 0, i * LANE + 16, this.labelWidth - 6);
      });
    }

    drawName(name, x, y, width, background) {
      const { context } = this;
      if (context.measureText(name).width > width - 8) return;
      context.fillStyle = textColour(background);
      context.fillText(name, x + 4, y + 14);
    }

    // Bars narrower than a pixel that follow each other are drawn once.
    drawSpans() {
      const { context, line, view } = this;
      const ends = new Map();
      for (const [group, region, begin, end, async] of line.spans) {
        if (end < view[0] || begin > view[1]) continue;
        const left = Math.max(this.xOf(begin), this.labelWidth);
        const right = Math.min(this.xOf(end), this.width);
        const y = line.groups[group][1] * LANE + 1 + (async ? BAR + 1 : 0);
        const key = `${y} ${region}`;
        if (right - left < 0.5 && ends.get(key) > left - 0.5) continue;
        const { name, does } = line.regions[region];
        const background = colour(COLOURS[does] ?? "--muted");
        const width = Math.max(0.7, right - left - (right - left > 3 ? 1 : 0));
        context.fillStyle = background;
        context.fillRect(left, y, width, BAR);
        if (width > 24) this.drawName(name, left, y, width, background);
        ends.set(key, right);
      }
    }

    drawSelection() {
      if (!this.drag || this.drag.pans) return;
      const { x, at } = this.drag;
      this.context.globalAlpha = 0.2;
      this.context.fillStyle = colour("--mark");
      this.context.fillRect(Math.min(x, at), 0, Math.abs(at - x), this.height - AXIS);
      this.context.globalAlpha = 1;
    }

    draw() {
      if (!this.context) return;
      this.context.clearRect(0, 0, this.width, this.height);
      this.drawAxis();
      this.drawLanes();
      this.drawSpans();
      this.drawSelection();
      this.canvas.dataset.view = this.view.map(Math.round).join(" ");
    }
  }

  for (const figure of dom.all("[data-timeline]"))
    if (data.get(`timeline-${figure.dataset.timeline}`).spans) new Timeline(figure);
}
