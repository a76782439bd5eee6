/**
 * Tables that become cards where there is no room for columns, and lists that are read page by page.
 */

import { h, fill, reconcile } from "../core/dom.js";
import { ApiError, isAbort } from "../core/api.js";
import { comeBack } from "../core/connection.js";
import { count } from "../core/format.js";
import { turns } from "../core/turns.js";
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
      index === 0 && href ? withoutButtons(h("a", { class: "row-anchor", href }, content)) : Array.isArray(content) ? h("div", null, content) : content);
    }));
  }

  element.setRows = (next) => reconcile(body, next, { key: rowKey, make: makeRow, signature });
  element.setRows(rows);
  return element;
}

/** A link has no button in it: what a name is cut off from stands behind the link. */
function withoutButtons(link) {
  for (const button of link.querySelectorAll("button")) button.remove();
  return link;
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
 *   refresh: () => Promise<void>, restart: () => void, fail: (error: Error, options?: {retry: () => void}) => void}}
 */
export function listing({ load, empty, noun = "row", onChange, live = false, ...rest }) {
  const rows = table(rest);
  const place = h("div", { class: "listing-place" });
  const status = h("span", { class: "muted", role: "status", tabindex: "-1" });
  const button = h("button", { class: "button small", type: "button", on: { click: more } }, "Show more");
  const trouble = h("div", { class: "listing-trouble" });
  const foot = h("div", { class: "listing-foot", hidden: true }, status, button, trouble);
  const element = h("div", { class: "listing" }, place, foot);
  let next;
  let visit = 0;
  // Two pages that are read at the same time leave a gap: the one goes on from where the other does not end any more.
  let inTurn = turns();
  // How many rows somebody asked for by "Show more"; 0 while the first page is enough.
  let wanted = 0;
  let hasLookedFurther = false;
  let failures = 0;
  let letBe = null;
  element.items = [];

  /** Shows the first page and no more. */
  function begin(page) {
    element.items = page.items;
    next = page.next;
    wanted = 0;
    hasLookedFurther = false;
  }

  function show() {
    const shown = element.items.length;
    // A search looks at so many at a time: there may be more although none of them is found.
    foot.hidden = shown === 0 && !next;
    const words = shown > 0 ? `${count(shown, noun)}${next ? " shown" : ""}` : next ? "None among those looked at so far" : "";
    if (status.textContent !== words) status.textContent = words;
    fill(button, shown > 0 ? "Show more" : "Look further");
    if (!next && button === document.activeElement) status.focus({ preventScroll: true });
    button.hidden = !next;
    fill(trouble);
    if (shown > 0) {
      rows.setRows(element.items);
      if (rows.parentNode !== place) fill(place, rows);
    } else if (next) {
      fill(place);
    } else {
      fill(place, emptyState(typeof empty === "function" ? empty() : empty));
    }
    onChange?.(element.items);
  }

  function waitForRows() {
    fill(place, skeleton(5));
    foot.hidden = true;
  }

  function showProblem(error, retry) {
    foot.hidden = true;
    fill(place, problem(error, { retry }));
  }

  async function more() {
    if (button.getAttribute("aria-busy")) return;
    button.setAttribute("aria-busy", "true");
    const mine = visit;
    try {
      await inTurn(() => readMore(mine));
    } catch (error) {
      if (isAbort(error) || mine !== visit) return;
      fill(trouble, problem(error, { compact: true, retry: more }));
    } finally {
      button.removeAttribute("aria-busy");
    }
  }

  async function readMore(mine) {
    const page = await load({ cursor: next });
    if (mine !== visit) return;
    const known = new Set(element.items.map(rest.rowKey));
    element.items = [...element.items, ...page.items.filter((item) => !known.has(rest.rowKey(item)))];
    wanted = element.items.length;
    hasLookedFurther = true;
    next = page.next;
    show();
  }

  /** What was asked for before counts for nothing from now on. */
  function leave() {
    visit += 1;
    inTurn = turns();
  }

  element.setItems = (items) => {
    element.items = items;
    show();
  };

  element.reload = async () => {
    leave();
    const mine = visit;
    letBe?.();
    if (element.items.length === 0) waitForRows();
    try {
      const page = await load({});
      if (mine !== visit) return;
      failures = 0;
      begin(page);
      show();
    } catch (error) {
      if (isAbort(error) || mine !== visit) return;
      if (!(error instanceof ApiError)) console.error(error);
      showProblem(error, element.reload);
      failures += 1;
      // Not once its page was left.
      letBe = comeBack(error, () => element.isConnected && element.reload(), failures);
    }
  };

  /** Reads the first page again, and keeps what "Show more" has read beyond it, unless that has grown to twice as much. */
  element.refresh = () => inTurn(async () => {
    const mine = visit;
    const page = await load({});
    if (mine !== visit) return;
    const fresh = new Set(page.items.map(rest.rowKey));
    const last = element.items.findLastIndex((item) => fresh.has(rest.rowKey(item)));
    // Where nothing is known any more, so much is new that there may be a gap.
    const beyond = last < 0 || !page.next ? [] : element.items.slice(last + 1);
    if (beyond.length > 0 && page.items.length + beyond.length <= 2 * wanted) {
      element.items = [...page.items, ...beyond];
    } else if (page.items.length > 0 || !page.next || !hasLookedFurther) {
      begin(page);
    }
    show();
  });

  /** Forgets all rows: something else is asked for from now on. */
  element.restart = () => {
    leave();
    begin({ items: [] });
    waitForRows();
  };

  element.fail = (error, { retry = element.reload } = {}) => {
    if (error.isPassing && element.items.length > 0) return;
    showProblem(error, retry);
  };

  if (live) fill(place, skeleton(5));
  else element.reload();
  return element;
}
