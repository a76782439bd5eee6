/**
 * People: finding a user.
 */

import { h } from "../core/dom.js";
import { latest } from "../core/latest.js";
import { field } from "../components/field.js";
import { code, name } from "../components/name.js";
import { pageView, section } from "../components/page.js";
import { listing } from "../components/table.js";

export const title = "People";
export const styles = ["people"];

const PAGE_SIZE = 50;
const PAUSE_MS = 250;
const MOST_TURNS = 20;

export async function render(page) {
  let query = page.query.q ?? "";
  let asking = page.signal;
  const search = field({ label: "Find somebody", name: "q", type: "search", value: query, placeholder: "The beginning of an id or a name",
    autofocus: true, maxlength: "256", onInput: (text) => question.ask(text) });

  const results = listing({
    caption: "People",
    noun: "user",
    rowKey: ({ id }) => id,
    rowHref: ({ id }) => page.href("people", id),
    columns: [
      { title: "Name", wide: true, cell: ({ id, displayName }) => name(displayName ?? id, { longest: 80 }) },
      { title: "Id", cell: ({ id }) => code(id, { longest: 60 }) },
      { title: "Language", cell: ({ locale }) => locale ?? h("span", { class: "muted" }, "–") },
      { title: "Roles", cell: ({ roles }) => name(roles.join(", "), { longest: 60 }) },
    ],
    empty: { title: "Nobody is found", picture: "people",
      text: "Users are found by the beginning of their id or name, whatever the case. They are learnt from events, imports and the devices that apps register." },
    load: ({ cursor }) => find(page, query, cursor, asking),
  });

  const question = latest(async (text, { signal }) => {
    query = text;
    asking = signal;
    page.setQuery({ q: text });
    // What goes wrong is shown by the list.
    await results.reload();
  }, { ms: PAUSE_MS, signal: page.signal, onError: () => {} });

  return pageView({ title, lead: "Who is notified of what, and why." },
    h("form", { class: "people-search", role: "search", on: { submit: (event) => {
      event.preventDefault();
      question.now(search.value);
    } } }, search),
    section({ flush: true }, results));
}

/** A page of users. Of a search the service looks at so many at a time, and may find none of them although more follow. */
async function find(page, query, from, signal) {
  let cursor = from;
  for (let turn = 1; ; turn += 1) {
    const { data } = await page.api.get(page.path("users"), { query: { query, limit: PAGE_SIZE, cursor }, signal });
    if (data.items.length > 0 || !data.next || turn === MOST_TURNS) return data;
    cursor = data.next;
  }
}
