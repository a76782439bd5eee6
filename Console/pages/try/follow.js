/**
 * Follows an event from its acceptance to its last device.
 */

import { isAbort } from "../../core/api.js";
import { fill, h } from "../../core/dom.js";
import { count, number, providerName } from "../../core/format.js";
import { wait } from "../../core/wait.js";
import { stateBadge } from "../../components/badge.js";
import { code, name } from "../../components/name.js";
import { problem } from "../../components/problem.js";
import { announce } from "../../components/toast.js";

const LOOK_EVERY_MS = 500;
const LOOK_AGAIN_MS = 2000;
const SHOWN_DEVICES = 20;

/** Keys and names of the steps of an event, in order. */
export const eventSteps = [
  ["accepted", "Accepted"],
  ["recipients", "Recipients found, switches asked"],
  ["deliveries", "Handed to the push services"],
  ["done", "Done"],
];

const LEVELS = { network: "by the network’s switches", user: "by their own switches", channel: "by their switches of the channel", endpoint: "by an endpoint" };

/**
 * Shows what becomes of an event that was posted. A service that is away is waited for.
 * @param {object} page
 * @param {ReturnType<import("../../components/steps.js").stepList>} list of `eventSteps`
 * @param {{id: string, status: string}} receipt
 * @param {AbortSignal} signal ends the following, of an event that is followed by another one
 */
export async function follow(page, list, receipt, signal) {
  const isKnown = receipt.status === "duplicate";
  list.done("accepted", isKnown && "This id was posted before: nothing new happens. ",
    h("a", { href: page.href("events", receipt.id) }, code(receipt.id)));
  list.start("recipients");
  let isDone = false;
  while (!isDone) {
    try {
      isDone = await look(page, list, receipt.id, signal);
      await wait(LOOK_EVERY_MS, signal);
    } catch (error) {
      if (isAbort(error)) return;
      if (!error.isPassing) return list.fail(list.current(), problem(error, { compact: true }));
      list.note(list.current(), error.message, " Trying again.");
      await wait(Math.max(LOOK_AGAIN_MS, (error.retryAfter ?? 0) * 1000), signal).catch(() => {});
    }
  }
  announce(list.summary());
}

/** Looks once; answers whether there is nothing more to come. */
async function look(page, list, id, signal) {
  const { data: event } = await page.api.get(page.path("events", id), { signal });
  const people = recipients(event);
  const failure = event.failure && h("p", { role: "alert" }, name(event.failure));
  if (event.state === "accepted") {
    list.note("recipients", event.failure ? failure : "Under way.");
    return false;
  }
  if (list.current() === "recipients") {
    list.done("recipients", people, failure);
    list.start("deliveries");
  }
  await showDevices(page, list, event, signal);
  if (event.state !== "done") return false;
  list.done("recipients", people, failure);
  list.done("done", h("a", { href: page.href("events", id) }, "Open the event"));
  return true;
}

function recipients({ recipients: { resolved, notified, suppressed, noDevice }, why }) {
  if (resolved === 0) return why ? `It concerns nobody: ${why}.` : "It concerns nobody.";
  const stopped = Object.entries(suppressed).filter(([, people]) => people > 0);
  return [
    `It concerns ${count(resolved, "person", "people")}: `,
    [
      `${number(notified)} notified`,
      ...stopped.map(([level, people]) => `${number(people)} suppressed ${LEVELS[level] ?? level}`),
      noDevice > 0 && `${number(noDevice)} without a device`,
    ].filter(Boolean).join(", "),
    ".",
  ];
}

async function showDevices(page, list, event, signal) {
  const total = Object.values(event.deliveries).reduce((sum, each) => sum + each, 0);
  const isDone = event.state === "done";
  if (total === 0) {
    if (isDone) list.done("deliveries", "There was no device to send to.");
    return;
  }
  const options = { signal, query: { limit: SHOWN_DEVICES } };
  const { data } = await page.api.get(page.path("events", event.id, "deliveries"), options);
  const rows = data.items.map((delivery) =>
    h("li", { class: "try-device" }, stateBadge(delivery.state), h("span", null, code(delivery.deviceId), " of ",
      name(delivery.userId, { fallback: "nobody" })), h("span", { class: "muted" }, providerName(delivery.provider)),
      delivery.reason && h("span", { class: "muted" }, name(delivery.reason))));
  const more = total - rows.length;
  list[isDone ? "done" : "note"]("deliveries", fill(h("ul", { class: "try-devices" }), rows),
    more > 0 && h("p", { class: "muted" }, `and ${count(more, "further device")}`));
}
