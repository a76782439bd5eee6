/**
 * How the network fares, in one sentence.
 */

import { now } from "../../core/connection.js";
import { h } from "../../core/dom.js";
import { count } from "../../core/format.js";
import { sumOf } from "../../core/stats.js";
import { stateBadge } from "../../components/badge.js";
import { time } from "../../components/time.js";

const DAY = 86_400_000;

const all = (counts, keys) => Object.values(counts ?? {}).reduce((sum, each) => sum + keys.reduce((some, key) => some + (each[key] ?? 0), 0), 0);

/**
 * @param {Awaited<ReturnType<import("./attention.js").lookAround>>} what was found
 * @returns {Array<Node|string>} nothing while it is not known
 */
export function stateInWords({ trouble, newest, hour }) {
  const [bad, warnings] = ["bad", "warn"].map((kind) => trouble.filter((item) => item.kind === kind));
  const also = warnings.length > 0 ? ` ${count(warnings.length, "thing")} below should be looked at.` : "";
  if (bad.some((item) => item.isOff)) return line("off", "Nobody is notified: all notifications are switched off.");
  if (bad.length > 0) return line("failing", `${count(bad.length, "thing")} below ${bad.length === 1 ? "keeps" : "keep"} notifications from people.`);
  if (newest === undefined || !hour) return [];
  if (newest === null) return line("new", "No event was posted yet. The first steps are below.", also);
  if (now() - Date.parse(newest.receivedAt) > DAY) return line("idle", "The last event was accepted ", time(newest.receivedAt), ".", also);
  return line("working", ...lastHour(hour.points, newest), also);
}

function lastHour(points, newest) {
  const accepted = sumOf(points, (point) => all(point.events, ["accepted"]));
  if (accepted === 0) return ["No event in the last hour; the last one was accepted ", time(newest.receivedAt), "."];
  const notified = sumOf(points, (point) => point.recipients?.notified);
  const failed = sumOf(points, (point) => all(point.deliveries, ["unregistered", "expired", "dead"]));
  return [`${count(accepted, "event")} in the last hour, ${count(notified, "notification")}, `,
    failed > 0 ? `${count(failed, "device was", "devices were")} not reached.` : "nothing failed."];
}

function line(state, ...words) {
  return [stateBadge(state), " ", h("span", null, words)];
}
