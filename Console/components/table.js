/**
 * Tables that become cards where there is no room for columns, and lists that are read page by page.
 */

import { h, fill, reconcile } from "../core/dom.js";
import { ApiError, isAbort } from "../core/api.js";
import { count } from "../core/format.js";
import { empty as emptyState, skeleton } from "./empty.js";
import { problem } from "./problem.js";

/**
 * A table.
 * @param {object} what
 * @param {string} what.caption what it is, for who does not see it
 * @param {Array<{title: string, cell: (row) => Node|string, numeric?: boolean, wide?: boolean, whole?: boolean,
 *   hideTitle?: boolean}>} what.columns `wide` takes the room that is left; `whole` does not break its lines; `hideTitle` is for
 *   columns of buttons
 * @param {(row) => string} what.rowKey
 * @param {(row) => string|null} [what.rowHref] makes the whole row a link; the first cell holds the real one
 * @param {(row) => string} [what.signature] what a row shows, as text: an unchanged row is not drawn again
 * @param {Array} [what.rows]
 * @returns {HTMLElement & {setRows: (rows: Array) => void}}
 */
export function table({ caption, columns, rowKey, rowHref, signature, rows = [] }) {
  const body = h("tbody");
  const element = h("div", { class: "table-frame" },
    h("table", { class: "table" }, h("caption", { class: "visually-hidden" }, caption),
      h("thead", null, h("tr", null, columns.map((column) => h("th", { scope: "col", class: [column.numeric && "numeric", column.wide && "wide"] },
        h("span", { class: column.hideTitle ? "visually-hidden" : null }, column.title))))), body));

  function makeRow(row) {
    const href = rowHref?.(row);
    return h("tr", { class: href && "row-link" }, columns.map((column, index) => {
      const content = column.cell(row);
      return h("td", { dataset: { title: column.title },
        class: [column.numeric && "numeric", column.wide && "wide", column.whole && "whole", column.hideTitle && "bare"] },
      index === 0 && href ? h("a", { class: "row-anchor", href }, content) : Array.isArray(content) ? h("div", null, content) : content);
    }));
  }

  element.setRows = (next) => reconcile(body, next, { key: rowKey, make: makeRow, signature });
  element.setRows(rows);
  return element;
}

/**
 * A list of the API, page by page: waiting, empty, full, and wrong.
 * @param {object} what all that `table` takes, and:
 * @param {(options: {cursor?: string}) => Promise<{items: Array, next?: string}>} what.load
 * @param {object|(() => object)} what.empty what `empty()` of `empty.js` takes
 * @param {string} [what.noun] of one row: "user"
 * @param {(items: Array) => void} [what.onChange] hears of all rows that are shown
 * @param {boolean} [what.live] nothing is loaded by itself: whoever polls calls `refresh`, which throws, and `fail` with what
 *   it threw
 * @returns {HTMLElement & {items: Array, reload: () => Promise<void>, setItems: (items: Array) => void,
 *   refresh: () => Promise<void>, restart: () => void, fail: (error: Error) => void}}
 */
export function listing({ load, empty, noun = "row", onChange, live = false, ...rest }) {
  const rows = table(rest);
  const place = h("div", { class: "listing-place" });
  const foot = h("div", { class: "listing-foot" });
  const element = h("div", { class: "listing" }, place, foot);
  let next;
  let visit = 0;
  element.items = [];

  function show() {
    if (element.items.length === 0) {
      fill(place, emptyState(typeof empty === "function" ? empty() : empty));
      fill(foot);
    } else {
      rows.setRows(element.items);
      if (rows.parentNode !== place) fill(place, rows);
      fill(foot, h("span", { class: "muted", role: "status" }, `${count(element.items.length, noun)}${next ? " shown" : ""}`),
        next && h("button", { class: "button small", type: "button", on: { click: more } }, "Show more"));
    }
    onChange?.(element.items);
  }

  async function more(event) {
    const button = event.currentTarget;
    button.setAttribute("aria-busy", "true");
    const mine = visit;
    try {
      const page = await load({ cursor: next });
      if (mine !== visit) return;
      const known = new Set(element.items.map(rest.rowKey));
      element.items = [...element.items, ...page.items.filter((item) => !known.has(rest.rowKey(item)))];
      next = page.next;
      show();
      foot.querySelector("button")?.focus();
    } catch (error) {
      if (isAbort(error)) return;
      fill(foot, problem(error, { compact: true, retry: () => more(event) }));
    }
  }

  element.setItems = (items) => {
    element.items = items;
    show();
  };

  element.reload = async () => {
    visit += 1;
    const mine = visit;
    if (element.items.length === 0) fill(place, skeleton(5));
    try {
      const page = await load({});
      if (mine !== visit) return;
      element.items = page.items;
      next = page.next;
      show();
    } catch (error) {
      if (isAbort(error) || mine !== visit) return;
      if (!(error instanceof ApiError)) console.error(error);
      fill(foot);
      fill(place, problem(error, { retry: element.reload }));
    }
  };

  /** Reads the first page again, and keeps what was read beyond it. */
  element.refresh = async () => {
    const mine = visit;
    const page = await load({});
    if (mine !== visit) return;
    const fresh = new Set(page.items.map(rest.rowKey));
    const last = element.items.findLastIndex((item) => fresh.has(rest.rowKey(item)));
    // Where nothing is known any more, so much is new that there may be a gap.
    const beyond = last < 0 || !page.next ? [] : element.items.slice(last + 1);
    element.items = [...page.items, ...beyond];
    if (beyond.length === 0) next = page.next;
    show();
  };

  /** Forgets all rows: something else is asked for from now on. */
  element.restart = () => {
    visit += 1;
    element.items = [];
    next = undefined;
    fill(place, skeleton(5));
    fill(foot);
  };

  element.fail = (error) => {
    if (error.isPassing && element.items.length > 0) return;
    fill(foot);
    fill(place, problem(error, { retry: element.reload }));
  };

  if (live) fill(place, skeleton(5));
  else element.reload();
  return element;
}
