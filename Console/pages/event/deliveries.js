/**
 * Every device of an event.
 */

import { h } from "../../core/dom.js";
import { providerName } from "../../core/format.js";
import { stateBadge } from "../../components/badge.js";
import { code, name } from "../../components/name.js";
import { reasonView } from "../../components/reason.js";
import { listing } from "../../components/table.js";
import { time } from "../../components/time.js";
import { askedOf, isFiltered } from "./filter.js";

const PAGE_SIZE = 100;

/**
 * @param {object} page
 * @param {{onChange: () => void}} options
 * @returns {HTMLElement & {refresh: () => Promise<void>, known: () => Array, isWhole: () => boolean}}
 */
export function deliveriesOf(page, { onChange }) {
  let isWhole = true;
  const list = listing({
    caption: "Devices of this event",
    noun: "device",
    live: true,
    columns: [
      { title: "Device", cell: (delivery) => h("span", null, code(delivery.deviceId, { longest: 60 }),
        delivery.providerMessageId && h("div", { class: "muted small" }, name(delivery.providerMessageId, { longest: 80 }))) },
      { title: "User", cell: (delivery) => (delivery.userId === null ? h("span", { class: "muted" }, "nobody’s")
        : h("a", { href: page.href("people", delivery.userId) }, name(delivery.userId, { longest: 60 }))) },
      { title: "Through", cell: (delivery) => providerName(delivery.provider) },
      { title: "State", cell: (delivery) => stateBadge(delivery.state) },
      { title: "Tries", numeric: true, cell: (delivery) => String(delivery.attempts) },
      { title: "Why", wide: true, cell: (delivery) => reasonView(delivery.reason) },
      { title: "When", cell: (delivery) => [delivery.state === "pending" ? h("span", { class: "muted small block" }, "next try") : null, time(delivery.at)] },
    ],
    rowKey: (delivery) => delivery.deviceId,
    load: async ({ cursor }) => {
      const { data } = await page.api.get(page.path("events", page.params.id, "deliveries"), {
        query: { ...askedOf(page), limit: PAGE_SIZE, cursor }, signal: page.signal });
      isWhole = !data.next && !isFiltered(page);
      return data;
    },
    empty: () => (isFiltered(page) ? { title: "No device matches", text: "Try fewer filters.", picture: "search" }
      : { title: "No device", text: "Nobody who was to be notified has a device, or nobody was to be notified.", picture: "providers" }),
    onChange: () => onChange(),
  });
  const refreshFirstPage = list.refresh;
  list.refresh = async () => {
    // What failed comes first, and all else as it was read: whoever turned some pages keeps them.
    if (list.items.length > PAGE_SIZE) return;
    await refreshFirstPage();
  };
  list.known = () => list.items;
  list.isWhole = () => isWhole;
  return list;
}
