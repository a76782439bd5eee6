/**
 * Names and texts that other people chose.
 */

import { fill, h } from "../core/dom.js";
import { number } from "../core/format.js";

const LONGEST = 200;

/** What turns the direction of all that follows it, by its usual abbreviation. */
const DIRECTIONS = {
  "\u202a": "LRE", "\u202b": "RLE", "\u202c": "PDF", "\u202d": "LRO", "\u202e": "RLO",
  "\u2066": "LRI", "\u2067": "RLI", "\u2068": "FSI", "\u2069": "PDI",
};
const TURNS = /([\u202a-\u202e\u2066-\u2069])/u;

/** A text whose turns of direction are seen instead of obeyed. */
function marked(text) {
  if (!TURNS.test(text)) return [text];
  return text.split(TURNS).filter(Boolean).map((part) => (DIRECTIONS[part]
    ? h("span", { class: "turn", title: `${escapes(part)}: turns the direction of what follows` }, DIRECTIONS[part]) : part));
}

/**
 * A text as it is, isolated from the direction of what surrounds it; a very long one is clipped, with a way to see all.
 * @param {string|null|undefined} text
 * @param {{fallback?: string, longest?: number}} [options]
 */
export function name(text, { fallback = "–", longest = LONGEST } = {}) {
  const whole = text === null || text === undefined || text === "" ? null : String(text);
  if (whole === null) return h("span", { class: "muted" }, fallback);
  if (!/\S/u.test(whole.replace(/[\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/gu, ""))) {
    return h("bdi", { class: "name invisible", title: "Blank or invisible characters" }, escapes(whole));
  }
  const letters = [...whole.slice(0, longest * 4)];
  if (letters.length <= longest) return h("bdi", { class: "name" }, marked(whole));
  const clipped = `${letters.slice(0, longest).join("")}…`;
  const shown = h("bdi", { class: "name" }, marked(clipped));
  const more = h("button", { class: "link-button", type: "button", "aria-expanded": "false", on: { click: (event) => {
    event.preventDefault();
    event.stopPropagation();
    const opens = more.getAttribute("aria-expanded") === "false";
    fill(shown, marked(opens ? whole : clipped));
    more.textContent = opens ? "Show less" : `Show all ${number([...whole].length)}`;
    more.setAttribute("aria-expanded", String(opens));
  } } }, `Show all ${number([...whole].length)}`);
  return h("span", { class: "clipped" }, shown, " ", more);
}

function escapes(text) {
  return [...text].slice(0, 20).map((letter) => `U+${letter.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`).join(" ");
}

/** An id, in the letters of a machine. */
export function code(text, options) {
  return h("code", { class: "id" }, name(text, options));
}
