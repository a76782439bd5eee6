/**
 * A part of the directory that is found by typing: users, or channels.
 */

import { h } from "../core/dom.js";
import { latest } from "../core/latest.js";
import { field } from "./field.js";
import { section } from "./page.js";
import { listing } from "./table.js";

const PAGE_SIZE = 50;
const PAUSE_MS = 250;
const MOST_TURNS = 20;

/**
 * @param {object} page
 * @param {object} what all that `listing` takes but `load`, and:
 * @param {"users"|"channels"} what.list
 * @param {string} what.label of the search
 * @returns {Array<Element>} the search and its results
 */
export function finder(page, { list, label, ...rest }) {
  let query = page.query.q ?? "";
  let asking = page.signal;
  const search = field({ label, name: "q", type: "search", value: query, placeholder: "The beginning of an id, or of a word of a name",
    autofocus: true, maxlength: "256", onInput: (text) => question.ask(text) });
  const results = listing({ ...rest, rowKey: ({ id }) => id, load: ({ cursor }) => find(page, list, query, cursor, asking) });
  const question = latest(async (text, { signal }) => {
    query = text;
    asking = signal;
    page.setQuery({ q: text });
    // What goes wrong is shown by the list.
    await results.reload();
  }, { ms: PAUSE_MS, signal: page.signal, onError: () => {} });
  return [
    h("form", { class: "finder", role: "search", on: { submit: (event) => {
      event.preventDefault();
      question.now(search.value);
    } } }, search),
    section({ flush: true }, results),
  ];
}

/** A page of the list. Of a search the service looks at so many at a time, and may find none of them although more follow. */
async function find(page, list, query, from, signal) {
  let cursor = from;
  for (let turn = 1; ; turn += 1) {
    const { data } = await page.api.get(page.path(list), { query: { query, limit: PAGE_SIZE, cursor }, signal });
    if (data.items.length > 0 || !data.next || turn === MOST_TURNS) return data;
    cursor = data.next;
  }
}
