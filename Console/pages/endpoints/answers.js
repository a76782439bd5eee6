/**
 * What an endpoint answered that is asked before anybody is notified: the latest events first.
 */

import { h } from "../../core/dom.js";
import { duration, eventTypeName } from "../../core/format.js";
import { ACTIONS, ANSWERS } from "../../core/outcomes.js";
import { badge } from "../../components/badge.js";
import { name } from "../../components/name.js";
import { section } from "../../components/page.js";
import { listing } from "../../components/table.js";
import { time } from "../../components/time.js";

/** Events are looked through for those that it was asked about: the API does not find them by that. */
const PAGE = 200;

/**
 * @param {object} page
 * @param {string} id of the endpoint
 */
export function answers(page, id) {
  const list = listing({
    caption: "Answers, the latest events first",
    noun: "answer",
    rowKey: (event) => event.id,
    load: async ({ cursor }) => {
      const { data } = await page.api.get(page.path("events"), { signal: page.signal, query: { cursor, limit: PAGE } });
      return { items: data.items.filter(({ interception }) => interception?.endpointId === id), next: data.next };
    },
    empty: { title: "It was asked nothing yet", picture: "endpoints",
      text: "An endpoint begins ten seconds after it was made or enabled. It is asked about the events that it names." },
    columns: [
      { title: "Event", wide: true, cell: (event) => h("a", { href: page.href("events", event.id) }, eventTypeName(event.type)) },
      { title: "The endpoint", cell: ({ interception: { outcome } }) =>
        badge(ANSWERS[outcome] ?? outcome, outcome === "answered" ? "good" : "bad") },
      { title: "The notification was", cell: ({ interception: { action, reason } }) =>
        [ACTIONS[action] ?? action, reason && [": ", name(reason, { longest: 100 })]] },
      { title: "Took", numeric: true, cell: ({ interception: { ms } }) => duration(ms) },
      { title: "When", cell: (event) => time(event.receivedAt) },
    ],
  });
  const refresh = h("button", { class: "button small", type: "button", on: { click: () => list.reload() } }, "Refresh");
  return section({ title: "What it answered", flush: true, actions: [refresh] }, list);
}
