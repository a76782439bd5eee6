/**
 * `<c-chart>`: a small picture of numbers over time. The numbers themselves stand in a table beside it.
 */

import { h, s, fill } from "../core/dom.js";
import { shortNumber } from "../core/format.js";

const LEFT = 40;
const LEFT_OF_UNITS = 52;
const BOTTOM = 20;
const TOP = 8;

/** The next number that reads well: 1, 2, 5, 10, 20, … */
export function roundUp(value) {
  if (value <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= value);
}

class ChartElement extends HTMLElement {
  constructor() {
    super();
    this.observer = new ResizeObserver(() => this.draw());
    this.addEventListener("pointermove", (event) => this.point(event));
    this.addEventListener("pointerleave", () => this.point(null));
  }

  connectedCallback() {
    this.observer.observe(this);
  }

  disconnectedCallback() {
    this.observer.disconnect();
  }

  /** @param {object} data see `chart` */
  set data(data) {
    this.shown = data;
    this.draw();
  }

  draw() {
    const width = this.clientWidth;
    const data = this.shown;
    if (!data || width === 0) return;
    const height = data.height ?? 132;
    const left = data.format ? LEFT_OF_UNITS : LEFT;
    this.left = left;
    const count = data.at.length;
    const up = data.series.filter((each) => !each.down);
    const down = data.series.filter((each) => each.down);
    const highest = data.lines
      ? Math.max(0, ...up.flatMap((each) => each.values.filter((value) => value !== null)))
      : Math.max(0, ...data.at.map((_, index) => total(up, index)));
    const lowest = Math.max(0, ...data.at.map((_, index) => total(down, index)));
    const top = roundUp(highest);
    const deep = lowest > 0 ? Math.min(roundUp(lowest), Math.max(roundUp(lowest), top * 0.25)) : 0;
    const room = height - TOP - BOTTOM;
    const scale = room / (top + deep);
    const zero = TOP + top * scale;
    const band = (width - left) / count;
    this.band = band;

    const rules = [top, ...(top >= 2 && room > 80 ? [top / 2] : []), 0, ...(deep ? [-deep] : [])].map((value) => {
      const y = zero - value * scale;
      const isCrowded = value < 0 && y - zero < 14;
      return [s("line", { class: "chart-rule", x1: left, x2: width, y1: y, y2: y }),
        !isCrowded && s("text", { class: "chart-text", x: left - 6, y: y + 4, "text-anchor": "end" },
          (data.format ?? shortNumber)(Math.abs(value)))];
    });
    const marks = data.lines ? up.map((each) => this.line(each, { band, zero, scale }))
      : data.at.map((_, index) => this.bars(index, { up, down, band, zero, scale }));
    this.cursor = s("rect", { class: "chart-cursor", x: 0, y: TOP, width: Math.max(band, 2), height: room, visibility: "hidden" });
    const labels = [0, Math.floor(count / 2), count - 1].map((index, place) => s("text", { class: "chart-text",
      x: [left, left + band * (index + 0.5), width][place], y: height - 4,
      "text-anchor": ["start", "middle", "end"][place] }, data.label(data.at[index])));
    fill(this, s("svg", { class: "chart", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": data.words },
      this.cursor, rules, marks, labels));
  }

  bars(index, { up, down, band, zero, scale }) {
    const gap = band > 4 ? Math.min(4, band * 0.25) : 0;
    const x = this.left + band * index + gap / 2;
    const rects = [];
    let above = zero;
    for (const each of up) {
      const size = each.values[index] * scale;
      if (size <= 0) continue;
      // What there is must be seen, be it one among thousands.
      const seen = Math.max(size, 1);
      above -= seen;
      rects.push(s("rect", { class: `tone-${each.tone}`, x, y: above, width: band - gap, height: seen }));
    }
    let below = zero;
    for (const each of down) {
      const size = each.values[index] * scale;
      if (size <= 0) continue;
      const seen = Math.max(size, 1);
      rects.push(s("rect", { class: `tone-${each.tone}`, x, y: below, width: band - gap, height: seen }));
      below += seen;
    }
    return rects;
  }

  line(each, { band, zero, scale }) {
    const x = (index) => this.left + band * (index + 0.5);
    let path = "";
    let isOpen = false;
    const dots = [];
    each.values.forEach((value, index) => {
      if (value === null) {
        isOpen = false;
        return;
      }
      const y = zero - value * scale;
      path += `${isOpen ? "L" : "M"}${x(index).toFixed(1)} ${y.toFixed(1)}`;
      const isAlone = !isOpen && (each.values[index + 1] ?? null) === null;
      if (isAlone) dots.push(s("circle", { class: `tone-${each.tone}`, cx: x(index), cy: y, r: 2 }));
      isOpen = true;
    });
    return [s("path", { class: ["chart-line", `line-${each.tone}`], d: path }), dots];
  }

  point(event) {
    if (!this.shown || !this.cursor) return;
    let index = null;
    if (event) {
      const place = Math.floor((event.clientX - this.getBoundingClientRect().left - this.left) / this.band);
      if (place >= 0 && place < this.shown.at.length) index = place;
    }
    if (index === this.pointed) return;
    this.pointed = index;
    this.cursor.setAttribute("visibility", index === null ? "hidden" : "visible");
    if (index !== null) this.cursor.setAttribute("x", this.left + this.band * index);
    this.shown.onPoint?.(index);
  }
}

function total(series, index) {
  return series.reduce((sum, each) => sum + each.values[index], 0);
}

customElements.define("c-chart", ChartElement);

/**
 * @param {object} data
 * @param {string} data.words what the picture shows, in words
 * @param {number[]} data.at when each bin begins
 * @param {Array<{name: string, tone: string|number, values: Array<number|null>, down?: boolean}>} data.series stacked; `down` below
 *   the line
 * @param {boolean} [data.lines] lines instead of bars; null leaves a gap
 * @param {(at: number) => string} data.label of a time
 * @param {(value: number) => string} [data.format] of the scale
 * @param {(index: number|null) => void} [data.onPoint] hears which bin the pointer is over
 */
export function chart(data) {
  const element = h("c-chart");
  element.data = data;
  return element;
}

/** The small square that says which colour in the picture is meant. */
export function swatch(tone) {
  return h("span", { class: ["swatch", `tone-${tone}`], "aria-hidden": "true" });
}
