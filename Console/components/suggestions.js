/**
 * Suggests ids while somebody writes one, and takes a name for the id that it belongs to.
 */

import { h } from "../core/dom.js";
import { latest } from "../core/latest.js";

const SHOWN = 20;
/** What was found by typing is forgotten above so many. */
const KEPT = 400;

/**
 * @param {object} page
 * @param {HTMLElement} input a field made with `suggestions`
 * @param {"users"|"channels"} list where to look for what begins like what is written
 */
export function suggestions(page, input, list) {
  const options = input.querySelector("datalist");
  const names = new Map();
  const found = new Set();
  const question = latest(async (text, { signal }) => {
    const { data } = await page.api.get(page.path(list), { query: { query: text, limit: SHOWN }, signal });
    add(data.items);
    for (const { id } of data.items) found.add(id);
    forget();
    // Without suggestions an id can still be written: whatever is wrong is said by what depends on it.
  }, { signal: page.signal, onError: () => {} });

  input.input.addEventListener("input", () => {
    const text = input.value.trim();
    if (text && !names.has(text)) question.ask(text);
    else question.cancel();
  });

  /** Adds to what is suggested. @param {Array<{id: string, displayName?: string|null}>} items */
  function add(items) {
    for (const { id, displayName = null } of items) {
      if (names.get(id)) continue;
      const isNew = !names.has(id);
      names.set(id, displayName);
      const option = isNew ? h("option", { value: id }) : [...options.children].find((each) => each.value === id);
      option.textContent = displayName ?? id;
      if (isNew) options.append(option);
    }
  }

  /** Forgets what was found first, but for what is chosen. */
  function forget() {
    for (const id of found) {
      if (names.size <= KEPT) return;
      if (id === input.value.trim()) continue;
      found.delete(id);
      names.delete(id);
      [...options.children].find((each) => each.value === id)?.remove();
    }
  }

  return {
    add,
    clear() {
      names.clear();
      found.clear();
      options.replaceChildren();
    },
    has: (id) => names.has(id),
    nameOf: (id) => names.get(id) ?? null,
    first: () => names.keys().next().value ?? null,
    /** The id that is meant: itself, or that of the only thing with this name. */
    resolve(text) {
      if (names.has(text)) return text;
      const wanted = text.toLowerCase();
      const meant = [...names].filter(([, displayName]) => displayName?.toLowerCase() === wanted);
      return meant.length === 1 ? meant[0][0] : text;
    },
  };
}
