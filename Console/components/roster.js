/**
 * Who belongs to something, a page at a time: added and removed one by one.
 */

import { h } from "../core/dom.js";
import { attempt } from "./attempt.js";
import { field, form } from "./field.js";
import { code, name } from "./name.js";
import { section } from "./page.js";
import { suggestions } from "./suggestions.js";
import { listing } from "./table.js";
import { announce, toast } from "./toast.js";

const PAGE_SIZE = 100;
const UNDO_SECONDS = 10;

/**
 * @param {object} page
 * @param {object} what
 * @param {string} what.title
 * @param {string} what.caption
 * @param {string} what.noun of one of them
 * @param {string} what.path of the list
 * @param {(row) => {kind: string, id: string}} what.entryOf a row of the list
 * @param {Array<{value: string, label: string, list?: "users"|"channels"}>} what.kinds of those that may be added
 * @param {(entry: {kind: string, id: string}) => string} what.pathOf one of them
 * @param {(entry: {kind: string, id: string}) => string|null} [what.hrefOf] its page
 * @param {(entry: {kind: string, id: string}) => Node} [what.more] a link or button besides
 * @param {string} what.add the label of the form
 * @param {{now: string, already?: string, gone: string, again: string}} what.words what is said of somebody
 * @param {object} what.empty
 * @returns {Array<Element>}
 */
export function roster(page, { title, caption, noun, path, entryOf, kinds, pathOf, hrefOf, more, add: label, words, empty }) {
  const keyOf = (entry) => `${entry.kind} ${entry.id}`;
  const list = listing({
    caption,
    noun,
    rowKey: (row) => keyOf(entryOf(row)),
    columns: [
      ...(kinds.length > 1 ? [{ title: "Kind", cell: (row) => kinds.find(({ value }) => value === entryOf(row).kind).label }] : []),
      { title: kinds.length > 1 ? "Id" : kinds[0].label, wide: true, cell: (row) => who(entryOf(row)) },
      { title: "Actions", hideTitle: true, cell: (row) => h("div", { class: "row-actions" }, more?.(entryOf(row)),
        h("button", { class: "button small danger quiet", type: "button", on: { click: () => remove(entryOf(row)) } }, "Remove",
          h("span", { class: "visually-hidden" }, ` ${entryOf(row).id}`))) },
    ],
    load: async ({ cursor }) => (await page.api.get(path, { query: { limit: PAGE_SIZE, cursor }, signal: page.signal })).data,
    empty,
  });

  function who(entry) {
    const href = hrefOf?.(entry);
    const id = code(entry.id, { longest: 80 });
    return href ? h("a", { href }, id) : id;
  }

  const said = ({ id }, what) => h("span", null, name(id, { longest: 80 }), ` ${what}.`);

  const kind = field({ label: "Kind", name: "kind", type: "select", options: kinds, value: kinds[0].value, pointer: "" });
  const inputs = kinds.map(({ value, label: called, list: found }) => {
    const input = field({ label: `New ${noun}: ${called.toLowerCase()}`, name: value, required: true, maxlength: "256", pointer: "",
      placeholder: found ? "An id or a name" : "An id", suggestions: found && [] });
    return { value, input, known: found && suggestions(page, input, found) };
  });
  const place = h("div");
  const chosen = () => inputs.find(({ value }) => value === kind.value);
  const choose = () => place.replaceChildren(chosen().input);
  kind.input.addEventListener("input", choose);
  choose();

  async function add() {
    const { value, input, known } = chosen();
    const typed = input.value.trim();
    const entry = { kind: value, id: known?.resolve(typed) ?? typed };
    const { status } = await page.api.put(pathOf(entry), {}, { signal: page.signal });
    // What was typed meanwhile stays.
    if (input.value.trim() === typed) input.value = "";
    input.input.focus();
    toast(said(entry, (status === 200 && words.already) || words.now), { kind: "good" });
    await list.reload();
  }

  /** Not asked for: it can be taken back, also after the page was left. */
  const remove = (entry) => attempt(async () => {
    await page.api.delete(pathOf(entry));
    await list.reload();
    toast(said(entry, words.gone), { kind: "good", seconds: UNDO_SECONDS, action: { label: "Undo", run: () => attempt(async () => {
      await page.api.put(pathOf(entry), {});
      announce(`${entry.id} ${words.again}`);
      if (!page.signal.aborted) await list.reload();
    }) } });
  });

  return [
    section({ title, flush: true }, list),
    section({}, form({ body: [kinds.length > 1 && kind, place], submit: "Add", onSubmit: add, "aria-label": label })),
  ];
}
