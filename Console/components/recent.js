/**
 * What was answered lately: a short list that the service keeps in memory, followed while it is seen.
 */

import { h } from "../core/dom.js";
import { liveBadge } from "./live-badge.js";
import { name } from "./name.js";
import { section } from "./page.js";
import { listing } from "./table.js";
import { time } from "./time.js";

const LOOK_EVERY_MS = 5000;

/** Items with a key each: they have no id, and two of them may be of one moment. */
function keyed(items) {
  const seen = new Map();
  return items.toReversed().map((item) => {
    const nth = (seen.get(item.at) ?? 0) + 1;
    seen.set(item.at, nth);
    return { ...item, key: `${item.at} ${nth}` };
  }).toReversed();
}

/**
 * @param {object} page
 * @param {object} what
 * @param {string} what.title
 * @param {string} what.path of the list, the newest first
 * @param {Array} what.columns what stands between the time and the reason
 * @param {object} what.empty
 */
export function recent(page, { title, path, columns, empty }) {
  const list = listing({
    caption: `${title}, the newest first`,
    noun: "request",
    live: true,
    rowKey: ({ key }) => key,
    load: async () => ({ items: keyed((await page.api.get(path, { signal: page.signal })).data.items) }),
    empty,
    columns: [
      { title: "When", cell: ({ at }) => time(at) },
      ...columns,
      { title: "Why", wide: true, cell: ({ reason }) => name(reason, { longest: 200 }) },
      { title: "Event", hideTitle: true, cell: ({ eventId }) => (eventId
        ? h("a", { href: page.href("events", eventId) }, "Event", h("span", { class: "visually-hidden" }, ` ${eventId}`)) : "") },
    ],
  });
  const watch = page.live(() => list.refresh(), LOOK_EVERY_MS, { onError: (error) => list.fail(error, { retry: () => watch.now() }) });
  return section({ title, note: "The latest 50, a second or two late.", flush: true, actions: [liveBadge(watch)] }, list);
}
