/**
 * `<c-time>`: a time as distance from now, kept true while it is seen; the exact time is in its title.
 */

import { h } from "../core/dom.js";
import { absoluteTime, relativeTime } from "../core/format.js";

const shown = new Set();
let timer = null;

function beat() {
  for (const element of shown) element.refresh();
}

class TimeElement extends HTMLElement {
  connectedCallback() {
    shown.add(this);
    timer ??= setInterval(beat, 1000);
    this.refresh();
  }

  disconnectedCallback() {
    shown.delete(this);
    if (shown.size === 0) {
      clearInterval(timer);
      timer = null;
    }
  }

  refresh() {
    const inner = this.firstElementChild;
    if (!inner) return;
    const text = relativeTime(inner.dateTime);
    if (inner.textContent !== text) inner.textContent = text;
  }
}

customElements.define("c-time", TimeElement);

/** @param {string|null} at RFC 3339 */
export function time(at, { fallback = "–" } = {}) {
  if (!at) return h("span", { class: "muted" }, fallback);
  return h("c-time", null, h("time", { datetime: at, title: absoluteTime(at) }, relativeTime(at)));
}
