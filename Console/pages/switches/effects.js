/**
 * What each switch would have stopped, or let through, in the last day.
 */

import { count } from "../../core/format.js";
import { sumOf } from "../../core/stats.js";

const FIGURES = {
  all: (point) => point.recipients,
  modules: (point, key) => point.recipientsByModule?.[key],
  events: (point, key) => point.recipientsByType?.[key],
};

/**
 * @param {{points: Array}|null} stats of the last day
 * @param {"all"|"modules"|"events"} kind
 * @param {string|undefined} key the module or event type
 * @param {boolean} isOn
 * @returns {string|null} null while the figures are not known
 */
export function effectOf(stats, kind, key, isOn) {
  if (!stats) return null;
  const figures = (point) => FIGURES[kind](point, key);
  if (isOn) {
    const notified = Math.max(0, sumOf(stats.points, (point) => figures(point)?.notified));
    return notified === 0 ? "Off, it would have stopped nothing in the last day."
      : `Off, it would have stopped ${count(notified, "notification")} of the last day.`;
  }
  // Whom several switches forbid is counted once, with the network; so this is the most that this one could change.
  const stopped = Math.max(0, sumOf(stats.points, (point) => figures(point)?.suppressed?.network));
  return stopped === 0 ? "The network’s switches stopped nothing of this in the last day."
    : `On, it would have let through at most ${count(stopped, "notification")} of the last day.`;
}
