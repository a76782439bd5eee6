/**
 * One channel: what it is called, who is a member, and what happened in it last.
 */

import { fill, h } from "../core/dom.js";
import { isAbort, withQuery } from "../core/api.js";
import { eventTypeName, number } from "../core/format.js";
import { titleOf } from "../core/pages.js";
import { badge, stateBadge } from "../components/badge.js";
import { copyButton } from "../components/copy.js";
import { confirm, openDialog } from "../components/dialog.js";
import { icon } from "../components/icon.js";
import { code, name } from "../components/name.js";
import { pageView, section } from "../components/page.js";
import { problem } from "../components/problem.js";
import { roster } from "../components/roster.js";
import { listing } from "../components/table.js";
import { time } from "../components/time.js";
import { toast } from "../components/toast.js";
import { channelDialog } from "./channels/form.js";

export const title = (page) => page.params.id;
export const styles = ["people"];

const SHOWN_EVENTS = 10;

/** @param {object} page */
export async function render(page) {
  const { id } = page.params;
  let { data: channel } = await page.api.get(page.path("channels", id), { signal: page.signal });
  const heading = h("span");
  const lead = h("span", { class: "person-facts" });

  function show() {
    fill(heading, name(channel.displayName ?? id, { longest: 80 }));
    fill(lead, h("span", { class: "person-id" }, code(id, { longest: 80 }), copyButton(id, "channel id")), channel.direct && badge("Conversation of two", "info"));
  }

  async function change() {
    const saved = await channelDialog(page, channel);
    if (!saved) return;
    channel = saved;
    show();
    toast("Saved.", { kind: "good" });
  }

  async function remove() {
    const isSure = await confirm({ title: "Remove this channel?", act: "Remove", danger: true,
      text: "Who is a member is forgotten. When something is said there again it is a new channel, without members." });
    if (!isSure) return;
    try {
      await page.api.delete(page.path("channels", id), { signal: page.signal });
      await page.navigate(page.href("channels"));
    } catch (error) {
      if (!isAbort(error)) await openDialog({ title: "It was not removed", body: problem(error), actions: [{ label: "Close", kind: "primary" }] });
    }
  }

  show();
  return pageView({ title: heading, lead, back: { href: page.href("channels"), label: titleOf("channels") }, actions: [
    h("button", { class: "button", type: "button", on: { click: change } }, icon("templates"), "Change"),
    h("button", { class: "button", type: "button", on: { click: remove } }, icon("trash"), "Remove channel"),
  ] }, members(page, id), lastEvents(page, id));
}

function members(page, channel) {
  return roster(page, {
    title: "Members", caption: "Members of this channel", noun: "member", add: "Add a member",
    path: page.path("channels", channel, "members"),
    entryOf: ({ userId }) => ({ kind: "users", id: userId }),
    kinds: [{ value: "users", label: "User", list: "users" }],
    pathOf: ({ id }) => page.path("channels", channel, "members", id),
    hrefOf: ({ id }) => page.href("people", id),
    more: ({ id }) => h("a", { class: "button small", href: withQuery(page.href("people", id), { channel }) }, "Their switches",
      h("span", { class: "visually-hidden" }, ` of ${id}`)),
    words: { now: "is a member now", already: "was a member already", gone: "is no member any more", again: "is a member again" },
    empty: { title: "Nobody is a member", picture: "people", text: "Whoever writes here becomes one; others are learnt from events and imports, or added here." },
  });
}

function lastEvents(page, channelId) {
  const list = listing({
    caption: "The last events of this channel",
    noun: "event",
    rowKey: ({ id }) => id,
    rowHref: ({ id }) => page.href("events", id),
    columns: [
      { title: "Type", whole: true, cell: ({ type }) => eventTypeName(type) },
      { title: "Accepted", cell: ({ receivedAt }) => time(receivedAt) },
      { title: "State", cell: ({ state }) => stateBadge(state) },
      { title: "Notified", wide: true, cell: ({ recipients }) => `${number(recipients.notified)} of ${number(recipients.resolved)}` },
    ],
    load: async () => ({ items: (await page.api.get(page.path("events"), { query: { channelId, limit: SHOWN_EVENTS }, signal: page.signal })).data.items }),
    empty: { title: "Nothing happened here lately", picture: "events" },
  });
  return section({ title: "Last events", flush: true, actions: [
    h("a", { class: "button small", href: withQuery(page.href("events"), { channelId }) }, "All of them"),
  ] }, list);
}
