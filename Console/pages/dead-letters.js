/**
 * Dead letters: deliveries that were given up, a page at a time, however many there are.
 */

import { fill, h } from "../core/dom.js";
import { isAbort } from "../core/api.js";
import { count, eventTypeName, providerName } from "../core/format.js";
import { confirm, openDialog } from "../components/dialog.js";
import { empty, skeleton } from "../components/empty.js";
import { icon } from "../components/icon.js";
import { code, name } from "../components/name.js";
import { facts, pageView, section } from "../components/page.js";
import { problem } from "../components/problem.js";
import { reasonView } from "../components/reason.js";
import { table } from "../components/table.js";
import { time } from "../components/time.js";
import { announce, toast } from "../components/toast.js";
import { forEach } from "./dead-letters/batch.js";

export const title = "Dead letters";
export const styles = ["dead-letters"];
const PAGE = 50;

/** @param {object} page */
export async function render(page) {
  // Where the pages before this one begin; the first one begins nowhere.
  const former = [];
  let cursor = page.query.cursor;
  let items = [];
  let next;
  let visit = 0;

  const place = h("div");
  const foot = h("nav", { class: "listing-foot", "aria-label": "Pages" });
  const progress = h("p", { class: "muted", role: "status" });
  const all = [
    h("button", { class: "button", type: "button", on: { click: () => settleAll("retry") } }, icon("refresh"), "Retry all shown"),
    h("button", { class: "button", type: "button", on: { click: () => settleAll("delete") } }, icon("trash"), "Delete all shown"),
  ];
  const rows = table({
    caption: "Dead letters, the oldest first",
    rowKey: (letter) => letter.id,
    columns: [
      { title: "Given up", cell: (letter) => time(letter.at) },
      { title: "Event", cell: (letter) => h("a", { href: page.href("events", letter.eventId) }, eventTypeName(letter.eventType)) },
      { title: "User", cell: (letter) => name(letter.userId, { fallback: "nobody", longest: 60 }) },
      { title: "Device", cell: (letter) => code(letter.deviceId, { longest: 40 }) },
      { title: "Provider", cell: (letter) => providerName(letter.provider) },
      { title: "Reason", cell: (letter) => reasonView(letter.reason) },
      { title: "Actions", hideTitle: true, cell: buttons },
    ],
  });

  function buttons(letter) {
    const of = h("span", { class: "visually-hidden" }, " dead letter of ", name(letter.userId, { fallback: "nobody", longest: 40 }));
    const make = (label, run) => h("button", { class: "button small quiet", type: "button", on: { click: run } }, label, of.cloneNode(true));
    return h("div", { class: "row-actions" },
      make("Open", () => open(letter)),
      make("Retry", (event) => settle("retry", letter, event.currentTarget)),
      make("Delete", (event) => settle("delete", letter, event.currentTarget)));
  }

  function act(what, letter) {
    const path = page.path("dead-letters", letter.id);
    const options = { signal: page.signal };
    return what === "retry" ? page.api.post(`${path}/retry`, {}, options) : page.api.delete(path, options);
  }

  /** Does it to one; of one that is gone already nothing is left to retry, and nothing to delete. */
  async function settle(what, letter, button) {
    button?.setAttribute("aria-busy", "true");
    try {
      const wasThere = await act(what, letter).then(() => true, (error) => {
        if (error.status === 404) return false;
        throw error;
      });
      remove([letter]);
      if (wasThere || what === "delete") toast(what === "retry" ? "It is on its way again." : "Deleted.", { kind: "good" });
      else toast("It was gone already: somebody else has retried or deleted it.");
    } catch (error) {
      if (!isAbort(error)) fill(progress, problem(error, { compact: true }));
    } finally {
      button?.removeAttribute("aria-busy");
    }
  }

  async function settleAll(what) {
    const shown = [...items];
    const isRetry = what === "retry";
    const agreed = await confirm({
      title: `${isRetry ? "Retry" : "Delete"} the ${count(shown.length, "dead letter")} shown?`,
      text: isRetry
        ? "Each goes back into the queue with a new life of 24 hours. People may be notified of things that are long past."
        : "They are forgotten for good: nobody is notified of them.",
      act: isRetry ? "Retry them" : "Delete them",
      danger: !isRetry,
    });
    if (!agreed) return;
    for (const button of all) button.disabled = true;
    const settled = [];
    let gone = 0;
    try {
      await forEach(shown, (letter) => act(what, letter), {
        signal: page.signal,
        onEach: (letter, wasThere) => {
          settled.push(letter);
          if (!wasThere) gone += 1;
          fill(progress, `${settled.length} of ${shown.length} ${isRetry ? "retried" : "deleted"}`);
        },
      });
      fill(progress);
      toast(`${count(settled.length - gone, "dead letter")} ${isRetry ? "on their way again" : "deleted"}.${gone > 0 ? ` ${gone} were gone already.` : ""}`,
        { kind: "good" });
    } catch (error) {
      if (isAbort(error)) return;
      fill(progress, `${settled.length} of ${shown.length} were ${isRetry ? "retried" : "deleted"}, then: `, problem(error, { compact: true }));
    }
    remove(settled);
  }

  function remove(gone) {
    const ids = new Set(gone.map((letter) => letter.id));
    items = items.filter((letter) => !ids.has(letter.id));
    if (items.length > 0 || gone.length === 0) return show();
    // The cursor says after which letter a page begins, so the page that follows is where this one was.
    return load(next ?? (former.length > 0 ? former.pop() : undefined));
  }

  function open(letter) {
    return openDialog({
      title: "Dead letter",
      wide: true,
      body: facts([
        ["Given up", time(letter.at)],
        ["Event", h("a", { href: page.href("events", letter.eventId) }, `${eventTypeName(letter.eventType)} `, code(letter.eventId))],
        ["User", name(letter.userId, { fallback: "nobody" })],
        ["Device", code(letter.deviceId)],
        ["Provider", providerName(letter.provider)],
        letter.appId && ["App", code(letter.appId)],
        letter.host && ["Host", code(letter.host)],
        ["Attempts", String(letter.attempts)],
        ["Reason", reasonView(letter.reason, { longest: 2000 })],
        ["Id", code(letter.id)],
      ]),
      actions: [
        { label: "Delete", kind: "danger", run: () => settle("delete", letter) },
        { label: "Retry", kind: "primary", run: () => settle("retry", letter) },
      ],
      onOpen: (element) => element.addEventListener("click", (event) => {
        if (event.target.closest("a")) element.close();
      }),
    });
  }

  function show() {
    for (const button of all) button.disabled = items.length === 0;
    if (items.length === 0) {
      fill(place, empty({ title: "No dead letters", picture: "dead-letters", text: "What a push service can never accept ends up here, and is kept for 14 days." }));
      fill(foot);
      return;
    }
    rows.setRows(items);
    if (rows.parentNode !== place) fill(place, rows);
    const button = (label, isThere, run) => h("button", { class: "button small", type: "button", disabled: !isThere, on: { click: run } }, label);
    fill(foot, h("span", { class: "muted" }, `${count(items.length, "dead letter")} shown${next || cursor ? "; there are more" : ""}`),
      button("First", cursor, () => turn(undefined, () => former.splice(0))),
      button("Older", former.length > 0, () => turn(former.at(-1), () => former.pop())),
      button("Newer", next, () => turn(next, () => former.push(cursor))));
  }

  async function turn(to, remember) {
    if (!(await load(to, remember))) return;
    window.scrollTo(0, 0);
    announce(`${count(items.length, "dead letter")} shown`);
  }

  async function load(at, remember) {
    visit += 1;
    const mine = visit;
    if (items.length === 0) fill(place, skeleton(8));
    try {
      const { data } = await page.api.get(page.path("dead-letters"), { signal: page.signal, query: { limit: PAGE, cursor: at } });
      if (mine !== visit) return false;
      remember?.();
      ({ items, next } = data);
      cursor = at;
      page.setQuery({ cursor });
      fill(progress);
      show();
      return true;
    } catch (error) {
      if (isAbort(error) || mine !== visit) return false;
      // An address with a cursor that is none any more: begin again.
      if (error.status === 400 && at) return load(undefined);
      for (const button of all) button.disabled = true;
      fill(foot);
      fill(place, problem(error, { retry: () => load(at, remember) }));
      return false;
    }
  }

  await load(cursor);
  return pageView(
    { title, lead: "Deliveries that a push service can never accept as they are, the oldest first. They are kept for 14 days.", actions: all },
    progress,
    section({ flush: true }, place, foot),
  );
}
