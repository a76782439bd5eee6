/**
 * An event's way through the stages, with the times that the API tells.
 */

import { h } from "../../core/dom.js";
import { absoluteTime, count, duration, number, preciseTime } from "../../core/format.js";
import { ACTIONS, ANSWERS } from "../../core/outcomes.js";
import { name } from "../../components/name.js";
import { step } from "../../components/steps.js";

/**
 * @param {object} event
 * @param {Array<object>} deliveries those that are known
 * @param {boolean} isWhole whether these are all
 */
export function stagesOf(event, deliveries, isWhole) {
  const accepted = Date.parse(event.receivedAt);
  const since = (at) => `+${duration(Math.max(0, Date.parse(at) - accepted))}`;
  const ended = deliveries.filter((delivery) => delivery.state !== "pending").sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
  const waiting = deliveries.filter((delivery) => delivery.state === "pending").sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
  const first = ended.find((delivery) => delivery.state === "delivered");
  const last = ended.at(-1);
  const counts = event.deliveries;
  const total = Object.values(counts).reduce((sum, value) => sum + value, 0);
  const note = isWhole ? "" : " of the devices shown below";
  const isExpanded = event.state !== "accepted";
  const steps = [
    stage("done", "Accepted and stored", event.receivedAt, null),
    stage(isExpanded ? "done" : "running", isExpanded ? `Recipients found: ${count(event.recipients.resolved, "person", "people")}`
      : `Finding recipients: ${count(event.recipients.resolved, "person", "people")} so far`),
  ];
  if (event.interception) steps.push(interception(event.interception));
  if (total > 0 || deliveries.length > 0) {
    if (first) steps.push(stage("done", `First device reached${note}`, first.at, since(first.at)));
    if (last && last !== first) steps.push(stage("done", `Last news of a device${note}`, last.at, since(last.at)));
  }
  if (counts.pending > 0) {
    steps.push(stage("running", `${count(counts.pending, "device waits", "devices wait")}`, null,
      waiting.length > 0 && h("span", null, "next try ", exact(waiting[0].at))));
  }
  if (event.state === "done") {
    steps.push(stage("done", total === 0 ? "Done: nothing to send"
      : `Done: ${count(counts.delivered, "device")} of ${number(total)} reached`));
  }
  return h("ol", { class: "steps" }, steps);
}

function exact(at) {
  return h("time", { datetime: at, title: absoluteTime(at) }, preciseTime(at));
}

function stage(state, label, at, distance) {
  return step({ state, label, time: [at && exact(at), at && distance ? " · " : null, distance] });
}

function interception({ endpointId, outcome, action, reason, ms }) {
  return step({ state: outcome === "answered" ? "done" : "failed", time: duration(ms),
    label: ["Endpoint ", name(endpointId, { longest: 60 }), ` ${ANSWERS[outcome] ?? outcome}`],
    detail: [`The notification was ${ACTIONS[action] ?? action}`, reason ? [": ", name(reason, { longest: 200 })] : "."] });
}
