/**
 * What is shown where nothing is, or not yet.
 */

import { h } from "../core/dom.js";
import { icon } from "./icon.js";

/**
 * Nothing is here: says why, and what to do about it.
 * @param {{title: string, text?: string|Node, action?: Node, picture?: string}} what
 */
export function empty({ title, text, action, picture = "bell" }) {
  return h("div", { class: "empty" }, icon(picture), h("p", { class: "empty-title" }, title),
    text && h("p", { class: "muted" }, text), action);
}

/** Lines in the place of what is being fetched. */
export function skeleton(lines = 4) {
  return h("div", { class: "skeleton", "aria-hidden": "true" },
    Array.from({ length: lines }, () => h("div", { class: "skeleton-line" })));
}
