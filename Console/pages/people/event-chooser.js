/**
 * Chooses one of the newest events to ask about, and says what it came to for this user.
 */

import { h, fill } from "../../core/dom.js";
import { isAbort } from "../../core/api.js";
import { eventTypeName, providerName, relativeTime } from "../../core/format.js";
import { stateBadge } from "../../components/badge.js";
import { field } from "../../components/field.js";
import { code } from "../../components/name.js";
import { problem } from "../../components/problem.js";
import { reasonView } from "../../components/reason.js";
import { time } from "../../components/time.js";
import { TYPES } from "./composer.js";

const SHOWN = 50;
const TEXTS = new Set(["message.sent", "notification.direct"]);
/** Of an event with very many deliveries, so many pages are searched for this user's. */
const MOST_PAGES = 5;

/**
 * @param {object} page
 * @param {object} user
 * @param {{onChoose: (event: object) => void}} options
 */
export function eventChooser(page, user, { onChoose }) {
  const events = new Map();
  const history = h("div", { class: "why-history" });
  const select = field({ label: "Begin with", type: "select", options: [{ value: "", label: "An event of your own" }], value: "",
    onInput: choose });

  async function choose(id) {
    page.setQuery({ event: id });
    if (!id) return fill(history);
    const event = events.get(id);
    onChoose(event);
    fill(history, h("p", { class: "muted small" }, "Looking up what came of it…"));
    try {
      const found = await deliveriesOf(id);
      if (select.value !== id) return;
      fill(history, h("h3", null, "What came of it then"), outcome(event, found),
        h("p", { class: "muted small" }, "What is shown is what would come of such an event now.",
          TEXTS.has(event.type) && " What was said is not kept: the text is a sample."));
    } catch (error) {
      if (!isAbort(error)) fill(history, problem(error, { compact: true }));
    }
  }

  async function deliveriesOf(id) {
    const mine = [];
    let turn = 0;
    for await (const { items } of page.api.list(page.path("events", id, "deliveries"), { limit: 1000 }, { signal: page.signal })) {
      mine.push(...items.filter(({ userId }) => userId === user.id));
      turn += 1;
      if (turn === MOST_PAGES) break;
    }
    return { mine, isCut: turn === MOST_PAGES };
  }

  function outcome(event, { mine, isCut }) {
    if (mine.length === 0) {
      const words = event.state === "accepted" ? "Its recipients are not found yet." : "It was sent to none of their devices.";
      return h("p", null, isCut ? "None of their devices is among the first 5,000 deliveries." : words, " ",
        h("a", { href: page.href("events", event.id) }, "See the event"));
    }
    return h("ul", { class: "why-deliveries" }, mine.map(({ deviceId, provider, state, attempts, reason, at }) => h("li", null,
      stateBadge(state), providerName(provider), code(deviceId, { longest: 40 }), time(at),
      attempts > 1 && h("span", { class: "muted" }, `${attempts} attempts`), reason && reasonView(reason, { longest: 200 }))));
  }

  return {
    element: h("div", { class: "chooser" }, select, history),
    async load() {
      const { data } = await page.api.get(page.path("events"), { query: { limit: SHOWN }, signal: page.signal });
      const wanted = page.query.event;
      const listed = data.items.filter(({ type }) => TYPES.includes(type));
      if (wanted && !listed.some(({ id }) => id === wanted)) {
        listed.unshift((await page.api.get(page.path("events", wanted), { signal: page.signal })).data);
      }
      for (const event of listed) events.set(event.id, event);
      select.input.append(...listed.map((event) => h("option", { value: event.id },
        [eventTypeName(event.type), event.channelId, relativeTime(event.receivedAt)].filter(Boolean).join(" · "))));
      if (wanted) {
        select.value = wanted;
        await choose(wanted);
      }
    },
  };
}
