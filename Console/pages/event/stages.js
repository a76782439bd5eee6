/**
 * An event's way through the stages, with the times that the API tells.
 */

import { h } from "../../core/dom.js";
import { absoluteTime, count, duration, preciseTime } from "../../core/format.js";
import { name } from "../../components/name.js";

const OUTCOMES = {
  answered: "answered", timeout: "did not answer in time", error: "could not be asked", invalid: "gave an answer that is none",
  circuit: "was not asked: its last answers were failures", busy: "was not asked: too many others were in line",
};
const ACTIONS = { deliver: "delivered as it was", edit: "changed, then delivered", drop: "dropped" };

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
    step("done", "Accepted and stored", event.receivedAt, null),
    step(isExpanded ? "done" : "now", isExpanded ? `Recipients found: ${count(event.recipients.resolved, "person", "people")}`
      : `Finding recipients: ${count(event.recipients.resolved, "person", "people")} so far`),
  ];
  if (event.interception) steps.push(interception(event.interception));
  if (total > 0 || deliveries.length > 0) {
    if (first) steps.push(step("done", `First device reached${note}`, first.at, since(first.at)));
    if (last && last !== first) steps.push(step("done", `Last news of a device${note}`, last.at, since(last.at)));
  }
  if (counts.pending > 0) {
    steps.push(step("now", `${count(counts.pending, "device waits", "devices wait")}`, null,
      waiting.length > 0 && h("span", null, "next try ", exact(waiting[0].at))));
  }
  if (event.state === "done") {
    steps.push(step("done", total === 0 ? "Done: nothing to send" : `Done: ${count(counts.delivered, "device")} of ${total.toLocaleString("en-GB")} reached`));
  }
  return h("ol", { class: "stages" }, steps);
}

function exact(at) {
  return h("time", { datetime: at, title: absoluteTime(at) }, preciseTime(at));
}

function step(state, text, at, distance) {
  return h("li", { class: state }, h("span", { class: "stage-text" }, text, state === "now" && h("span", { class: "visually-hidden" }, " (now)")),
    h("span", { class: "stage-time" }, at && exact(at), at && distance ? " · " : null, distance));
}

function interception({ endpointId, outcome, action, reason, ms }) {
  return h("li", { class: outcome === "answered" ? "done" : "trouble" },
    h("span", { class: "stage-text" }, "Endpoint ", name(endpointId, { longest: 60 }), ` ${OUTCOMES[outcome] ?? outcome}: ${ACTIONS[action] ?? action}`,
      reason && [" (", name(reason, { longest: 200 }), ")"]),
    h("span", { class: "stage-time" }, duration(ms)));
}
