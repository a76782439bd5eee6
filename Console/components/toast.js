/**
 * `<c-toasts>`: short words at the edge of the window, with at most one button each.
 */

import { h } from "../core/dom.js";
import { icon } from "./icon.js";

const undoable = new Set();
let region = null;
let voice = null;

/** The place for toasts; made once. */
export function makeToasts() {
  region = h("div", { class: "toasts", role: "region", "aria-label": "Messages" });
  voice = h("div", { class: "visually-hidden", role: "status" });
  window.addEventListener("keydown", onKey);
  return h("c-toasts", null, region, voice);
}

/** What toasts offer is mostly "Undo", so its keys do the latest one, wherever the focus is but in a text. */
function onKey(event) {
  // What fills forms in sends keys without a name.
  if (event.key?.toLowerCase() !== "z" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
  const latest = [...undoable].at(-1);
  if (!latest || event.target.closest?.("input, textarea, select, dialog")) return;
  event.preventDefault();
  latest();
}

/** Says something to screen readers only. */
export function announce(text) {
  voice.textContent = "";
  // A change from the same text to the same text would not be read.
  requestAnimationFrame(() => {
    voice.textContent = text;
  });
}

/**
 * Shows a message. Its time stands still while it has the focus or the pointer.
 * @param {string|Node} text
 * @param {{kind?: "info"|"good"|"bad", action?: {label: string, run: () => void|Promise<void>}, seconds?: number}} [options]
 * @returns {{close: () => void}}
 */
export function toast(text, { kind = "info", action, seconds = 5 } = {}) {
  let left = seconds * 1000;
  let startedAt = 0;
  let timer = null;

  function close() {
    clearTimeout(timer);
    undoable.delete(act);
    element.remove();
  }

  async function act() {
    close();
    await action.run();
  }

  function hold() {
    clearTimeout(timer);
    if (timer !== null) left = Math.max(1000, left - (Date.now() - startedAt));
    timer = null;
  }

  function go() {
    if (timer !== null || element.matches(":focus-within, :hover")) return;
    startedAt = Date.now();
    timer = setTimeout(close, left);
  }

  const element = h("div", { class: ["toast", kind],
    on: { mouseenter: hold, mouseleave: go, focusin: hold, focusout: () => setTimeout(go), keydown: (event) => {
      if (event.key === "Escape") close();
    } } },
  icon(kind === "bad" ? "warning" : kind === "good" ? "check" : "bell"),
  h("span", { class: "toast-text" }, text),
  action && h("button", { class: "button small", type: "button", "aria-keyshortcuts": "Control+Z", title: "Ctrl+Z", on: { click: act } },
    action.label),
  h("button", { class: "icon-button small", type: "button", on: { click: close } }, icon("close"),
    h("span", { class: "visually-hidden" }, "Close message")));
  region.append(element);
  if (action) undoable.add(act);
  announce(`${element.querySelector(".toast-text").textContent}${action ? `. ${action.label} is offered for ${seconds} seconds, also by Control Z.` : ""}`);
  go();
  return { close };
}
