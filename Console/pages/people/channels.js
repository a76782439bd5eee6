/**
 * The channels that a user is a member of, with what they set for each.
 */

import { h } from "../../core/dom.js";
import { now } from "../../core/connection.js";
import { absoluteTime } from "../../core/format.js";
import { badge } from "../../components/badge.js";
import { code, name } from "../../components/name.js";
import { section } from "../../components/page.js";
import { listing } from "../../components/table.js";
import { time } from "../../components/time.js";

const PAGE_SIZE = 50;

/**
 * @param {object} page
 * @param {object} user
 * @param {(channel: string) => void} open shows the switches for a channel
 */
export function channelsTab(page, user, open) {
  return section({ title: "Channels", note: "Where they are a member.", flush: true }, listing({
    caption: "Channels of this user",
    noun: "channel",
    rowKey: ({ id }) => id,
    columns: [
      { title: "Channel", wide: true, cell: ({ id, displayName, direct }) => h("span", { class: "channel-name" },
        name(displayName ?? id, { longest: 80 }), displayName && code(id, { longest: 40 }), direct && badge("Conversation of two")) },
      { title: "Their switches", cell: ({ notifications }) => summary(notifications) },
      { title: "Changed", cell: ({ notifications }) => time(notifications.updatedAt, { fallback: "never" }) },
      { title: "Switches", hideTitle: true,
        cell: ({ id, displayName }) => h("button", { class: "button small", type: "button", on: { click: () => open(id) } },
        "Switches", h("span", { class: "visually-hidden" }, ` for ${displayName ?? id}`)) },
    ],
    empty: { title: "They are in no channel", picture: "people",
      text: "Channels and who is in them are learnt from events, imports and the directory’s API." },
    load: async ({ cursor }) => (await page.api.get(page.path("users", user.id, "channels"),
      { query: { limit: PAGE_SIZE, cursor }, signal: page.signal })).data,
  }));
}

/** What a channel's switches do, in badges. */
export function summary({ enabled, mentionsOnly, mutedUntil }) {
  const isMuted = mutedUntil && Date.parse(mutedUntil) > now();
  return h("span", { class: "badges" },
    !enabled ? badge("Off", "bad") : isMuted ? badge(`Muted until ${absoluteTime(mutedUntil)}`, "warn") : badge("On", "good"),
    mentionsOnly && badge("Mentions only", "info"));
}
