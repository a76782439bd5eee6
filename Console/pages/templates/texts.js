/**
 * A template as the editor holds it, and its mistakes.
 */

import { KINDS } from "./events.js";

/**
 * @typedef {object} Part
 * @property {boolean} isSplit whether it has a text for each variant
 * @property {string} one the text for all
 * @property {Object<string, string>} variants the text of each variant; empty where the built-in one is to be used
 */

/** What the editor holds of a template as the API shows it. */
export function draftOf(type, { title, body }) {
  const part = (value, variants) => ({
    isSplit: typeof value === "object",
    one: typeof value === "string" ? value : (variants.map((variant) => value[variant]).find(Boolean) ?? ""),
    variants: Object.fromEntries(variants.map((variant) => [variant, typeof value === "string" ? value : (value[variant] ?? "")])),
  });
  return { title: part(title, KINDS[type].title.variants), body: part(body, KINDS[type].body.variants) };
}

/** The template as the API takes it. A variant without text is left out: the built-in one is used. */
export function textsOf(draft) {
  const value = ({ isSplit, one, variants }) =>
    isSplit ? Object.fromEntries(Object.entries(variants).filter(([, text]) => text !== "")) : one;
  return { title: value(draft.title), body: value(draft.body) };
}

/** Whether two drafts say the same. */
export function isSame(one, other) {
  return JSON.stringify(textsOf(one)) === JSON.stringify(textsOf(other));
}

/**
 * The mistakes of a problem document by the field that they are in.
 * @param {object|null} problem
 * @returns {Map<string, {detail: string, line: number, column: number|null}>} by `title`, `body`, `body/many`, …; whatever
 *   is in none of them under ``
 */
export function mistakesOf(problem) {
  const mistakes = new Map();
  for (const { pointer, detail } of problem?.errors ?? []) {
    const [, field = ""] = /^(?:\/template)?\/((?:title|body)(?:\/\w+)?)$/.exec(pointer) ?? [];
    const [, line = "1", column] = /^(?:line (\d+), )?column (\d+): /.exec(detail) ?? [];
    const said = field ? detail : `${pointer || "/"}: ${detail}`;
    if (!mistakes.has(field)) mistakes.set(field, { detail: said, line: Number(line), column: column ? Number(column) : null });
  }
  return mistakes;
}

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/**
 * Where a column is in a text: columns count what people call characters, from 1, in their line.
 * @returns {{start: number, end: number, line: string, inLine: [number, number]}} offsets into the text, and into its line
 */
export function placeOf(text, line, column) {
  const lines = text.split("\n");
  const wanted = lines[line - 1] ?? "";
  const before = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
  const characters = [...segmenter.segment(wanted)];
  const here = characters[column - 1];
  const from = here ? here.index : wanted.length;
  const to = here ? from + here.segment.length : from;
  return { start: before + from, end: before + to, line: wanted, inLine: [from, to] };
}
