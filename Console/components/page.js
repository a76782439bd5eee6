/**
 * How every page begins, and its sections.
 */

import { h, uniqueID } from "../core/dom.js";

/**
 * A page: a heading, what one can do, a line about what this is, and its content.
 * @param {{title: string|Node, lead?: string|Node, actions?: Array<Node>, back?: {href: string, label: string}, wide?: boolean}} head
 */
export function pageView({ title, lead, actions, back }, ...content) {
  return h("div", { class: "page" },
    h("header", { class: "page-head" },
      back && h("a", { class: "page-back", href: back.href }, `← ${back.label}`),
      h("div", { class: "page-title" }, h("h1", null, title), actions && h("div", { class: "page-actions" }, actions)),
      lead && h("p", { class: "lead" }, lead)),
    content);
}

/**
 * A part of a page with a heading of its own, on a card.
 * @param {{title: string|Node, note?: string|Node, actions?: Array<Node>, flush?: boolean, class?: string}} head
 *   `flush` is for tables that reach the edges
 */
export function section({ title, note, actions, flush = false, class: extra }, ...content) {
  const id = uniqueID("section");
  return h("section", { class: ["card", flush && "flush", extra], "aria-labelledby": title && id },
    title && h("header", { class: "card-head" }, h("h2", { id }, title), note && h("p", { class: "muted" }, note),
      actions && h("div", { class: "card-actions" }, actions)),
    h("div", { class: "card-body" }, content));
}

/** Names and values. @param {Array<[string, Node|string]>} pairs */
export function facts(pairs) {
  return h("dl", { class: "facts" }, pairs.filter(Boolean).map(([term, value]) =>
    h("div", null, h("dt", null, term), h("dd", null, value))));
}
