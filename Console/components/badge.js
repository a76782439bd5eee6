/**
 * A state in a word, with a colour that says it once more.
 */

import { h } from "../core/dom.js";
import { stateWords } from "../core/format.js";

/** @param {"neutral"|"info"|"good"|"warn"|"bad"} [kind] */
export function badge(text, kind = "neutral") {
  return h("span", { class: ["badge", kind] }, text);
}

/** The badge of a state of the API: `stateBadge("delivered")`. */
export function stateBadge(state) {
  const { text, kind } = stateWords(state);
  return badge(text, kind);
}
