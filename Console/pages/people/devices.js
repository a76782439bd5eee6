/**
 * The devices of a user: where notifications arrive, or do not.
 */

import { h } from "../../core/dom.js";
import { providerName } from "../../core/format.js";
import { badge, stateBadge } from "../../components/badge.js";
import { code, name } from "../../components/name.js";
import { section } from "../../components/page.js";
import { reasonView } from "../../components/reason.js";
import { listing } from "../../components/table.js";
import { time } from "../../components/time.js";

const PAGE_SIZE = 50;

/**
 * @param {object} page
 * @param {object} user
 */
export function devicesTab(page, user) {
  return section({ title: "Devices", note: "A quarantined or unregistered device gets nothing until its app registers it again.",
    flush: true }, listing({
    caption: "Devices of this user",
    noun: "device",
    rowKey: ({ id }) => id,
    columns: [
      { title: "Device", cell: ({ id }) => h("span", { class: "device-id" }, code(id, { longest: 60 })) },
      { title: "Provider", cell: address },
      { title: "State", cell: ({ state }) => stateBadge(state) },
      { title: "Last error", wide: true,
        cell: ({ error }) => (error ? reasonView(error, { longest: 200 }) : h("span", { class: "muted" }, "none")) },
      { title: "Language", cell: ({ locale }) => name(locale, { fallback: "theirs" }) },
      { title: "Registered", cell: ({ registeredAt }) => time(registeredAt) },
      { title: "Last seen", cell: ({ lastSeenAt }) => time(lastSeenAt) },
    ],
    empty: { title: "They have no device", picture: "bell",
      text: "Nothing can be shown to them until an app, a browser or a webhook is registered for them." },
    load: async ({ cursor }) => (await page.api.get(page.path("users", user.id, "devices"),
      { query: { limit: PAGE_SIZE, cursor }, signal: page.signal })).data,
  }));
}

function address({ provider, appId, environment, token, subscription, url }) {
  const where = token ?? subscription?.endpoint ?? url;
  return h("span", { class: "device-address" }, providerName(provider),
    appId && code(appId, { longest: 60 }),
    environment === "sandbox" && badge("Sandbox", "info"),
    where && h("span", { class: "muted" }, name(where, { longest: 60 })));
}
