/**
 * What each switch would have stopped, or let through, in the last day: as far as the figures tell.
 */

import { count } from "../../core/format.js";
import { sumOf } from "../../core/stats.js";

/** The events that belong to a module; direct notifications may name another one than theirs. */
const MODULE_EVENTS = { chat: ["channel.created", "member.joined", "message.sent"], direct: ["notification.direct"] };

/**
 * @param {{points: Array}|null} stats of the last day
 * @param {"all"|"modules"|"events"} kind
 * @param {string} [key] the module or event type
 * @param {boolean} isOn
 * @returns {string|null} null where the figures do not tell
 */
export function effectOf(stats, kind, key, isOn) {
  if (!stats) return null;
  const { points } = stats;
  if (kind === "all") {
    const notified = sumOf(points, (point) => point.recipients?.notified);
    const stopped = sumOf(points, (point) => point.recipients?.suppressed?.network);
    if (isOn) return `Off, it would have stopped ${count(notified, "notification")} of the last day.`;
    return `Switches of the network stopped ${count(stopped, "notification")} in the last day. On, at most these would have gone out.`;
  }
  const types = kind === "events" ? [key] : MODULE_EVENTS[key];
  if (!types) return null;
  const accepted = types.reduce((sum, type) => sum + sumOf(points, (point) => point.events?.[type]?.accepted), 0);
  if (accepted === 0) return "Nothing in the last day that it would have changed.";
  const others = onlyTypes(points, types) ? sumOf(points, (point) => point.recipients?.notified) : null;
  const events = count(accepted, "event");
  if (!isOn) return `On, it would have let through what ${events} of the last day had to say.`;
  return others === null ? `Off, it would have stopped the notifications of ${events} of the last day.`
    : `Off, it would have stopped ${count(others, "notification")} of ${events} of the last day.`;
}

/** Whether nothing else that notifies happened: then the notifications of the day are all theirs. */
function onlyTypes(points, types) {
  const notifying = [...MODULE_EVENTS.chat, ...MODULE_EVENTS.direct];
  return notifying.every((type) => types.includes(type) || sumOf(points, (point) => point.events?.[type]?.accepted) === 0);
}
