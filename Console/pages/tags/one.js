/**
 * One tag: what it is for, and who subscribes to it.
 */

import { fill, h } from "../../core/dom.js";
import { titleOf } from "../../core/pages.js";
import { attempt } from "../../components/attempt.js";
import { badge } from "../../components/badge.js";
import { confirm } from "../../components/dialog.js";
import { icon } from "../../components/icon.js";
import { code, name } from "../../components/name.js";
import { pageView } from "../../components/page.js";
import { roster } from "../../components/roster.js";
import { toast } from "../../components/toast.js";
import { tagDialog } from "./form.js";

/**
 * @param {object} page
 * @param {string} id
 */
export async function renderTag(page, id) {
  let { data: tag } = await page.api.get(page.path("tags", id), { signal: page.signal });
  const lead = h("span", { class: "person-facts" });
  const show = () => fill(lead, name(tag.description, { fallback: "No description", longest: 300 }),
    tag.selfService && badge("Users subscribe themselves", "info"));

  async function change() {
    const saved = await tagDialog(page, tag);
    if (!saved) return;
    tag = saved;
    show();
    toast("Saved.", { kind: "good" });
  }

  async function remove() {
    const isSure = await confirm({ title: "Remove this tag?", act: "Remove", danger: true, text: "All of its subscriptions go with it." });
    if (!isSure) return;
    await attempt(async () => {
      await page.api.delete(page.path("tags", id), { signal: page.signal });
      await page.navigate(page.href("tags"));
    });
  }

  show();
  return pageView({ title: code(id, { longest: 80 }), lead, back: { href: page.href("tags"), label: titleOf("tags") }, actions: [
    h("button", { class: "button", type: "button", on: { click: change } }, icon("templates"), "Change"),
    h("button", { class: "button", type: "button", on: { click: remove } }, icon("trash"), "Remove tag"),
  ] }, roster(page, {
    title: "Subscribers", caption: "Subscribers of this tag", noun: "subscriber", add: "Add a subscriber",
    path: page.path("tags", id, "subscribers"),
    entryOf: ({ userId, deviceId }) => (deviceId === undefined || deviceId === null ? { kind: "users", id: userId } : { kind: "devices", id: deviceId }),
    kinds: [{ value: "users", label: "User", list: "users" }, { value: "devices", label: "Device" }],
    pathOf: ({ kind, id: subscriber }) => page.path("tags", id, kind, subscriber),
    hrefOf: ({ kind, id: subscriber }) => (kind === "users" ? page.href("people", subscriber) : null),
    words: { now: "subscribes now", gone: "subscribes no more", again: "subscribes again" },
    empty: { title: "Nobody subscribes", picture: "tags", text: "A user covers all of their devices; a single device may subscribe, too." },
  }));
}
