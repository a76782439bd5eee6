/**
 * A word beforehand, or about how things stand.
 */

import { h } from "../core/dom.js";
import { icon } from "./icon.js";

/**
 * @param {"info"|"warn"|"bad"} kind
 * @param {...(Node|string)} content
 */
export function notice(kind, ...content) {
  return h("div", { class: ["notice", kind] }, icon(kind === "info" ? "bell" : "warning"), h("p", null, content));
}
