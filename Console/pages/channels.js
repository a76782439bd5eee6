/**
 * Channels: finding one, and making one.
 */

import { h } from "../core/dom.js";
import { titleOf } from "../core/pages.js";
import { badge } from "../components/badge.js";
import { finder } from "../components/finder.js";
import { icon } from "../components/icon.js";
import { code, name } from "../components/name.js";
import { pageView } from "../components/page.js";
import { channelDialog } from "./channels/form.js";

export const title = titleOf("channels");

/** @param {object} page */
export async function render(page) {
  const make = h("button", { class: "button primary", type: "button", on: { click: async () => {
    const channel = await channelDialog(page);
    if (channel) await page.navigate(page.href("channels", channel.id));
  } } }, icon("plus"), "New channel");
  return pageView({ title, lead: "Where people talk: who is told of what is said there.", actions: [make] }, finder(page, {
    list: "channels",
    label: "Find a channel",
    caption: "Channels",
    noun: "channel",
    rowHref: ({ id }) => page.href("channels", id),
    columns: [
      { title: "Name", wide: true, cell: ({ id, displayName }) => name(displayName ?? id, { longest: 80 }) },
      { title: "Id", cell: ({ id }) => code(id, { longest: 60 }) },
      { title: "Kind", cell: ({ direct }) => (direct ? badge("Conversation of two", "info") : badge("Channel")) },
    ],
    empty: { title: "No channel is found", picture: "channels",
      text: "Channels are found by the beginning of their id or of any word of their name, whatever the case. They are learnt from events and imports." },
  }));
}
