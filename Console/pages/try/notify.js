/**
 * A notification for this very browser, through the whole pipeline: each step is shown as it happens.
 */

import { ApiError } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { stateWords } from "../../core/format.js";
import { wait } from "../../core/wait.js";
import { titleOf } from "../../core/pages.js";
import { code, name } from "../../components/name.js";
import { problem } from "../../components/problem.js";
import { time } from "../../components/time.js";
import * as browser from "./browser.js";

const DELIVERED_WITHIN_MS = 60_000;
const SHOWN_WITHIN_MS = 20_000;
const LOOK_EVERY_MS = 400;

/** Keys and names of the steps, in order. */
export const steps = [
  ["able", "This browser can be notified"],
  ["permission", "You allow notifications"],
  ["key", "The network’s key for Web Push"],
  ["worker", "The service worker runs"],
  ["subscription", "The browser subscribes with its push service"],
  ["device", "Carillon knows the browser as a device"],
  ["event", "The notification is posted"],
  ["switches", "The switches let it through"],
  ["delivery", "The push service takes it"],
  ["shown", "The browser shows it"],
];

/**
 * Goes through the steps; the one that fails says why.
 * @param {object} page
 * @param {ReturnType<import("../../components/steps.js").stepList>} list
 * @param {{userId: string, title: string, body: string, subject: string|null}} what
 * @returns {Promise<string|null>} the id of the event, where it came that far
 */
export async function notifyThisBrowser(page, list, what) {
  let current = null;
  let heard = null;
  let event = null;
  const begin = (key, ...words) => {
    current = key;
    list.start(key, ...words);
  };
  try {
    begin("able");
    await browser.requireAbility();
    list.done("able");

    begin("permission", "Your browser asks you now.");
    await browser.requirePermission();
    list.done("permission", "Allowed.");

    begin("key");
    const key = await networkKey(page, what.subject);
    list.done("key", "Signed for ", name(key.subject));

    begin("worker");
    const registration = await browser.requireWorker();
    heard = browser.listen();
    list.done("worker");

    begin("subscription");
    const subscription = await browser.subscribe(registration, key.publicKey);
    list.done("subscription", "At ", code(new URL(subscription.endpoint).host));

    begin("device");
    const device = await register(page, what.userId, subscription);
    list.done("device", code(device), " of ", name(what.userId));

    begin("event");
    const notification = { to: { deviceIds: [device] }, title: what.title, body: what.body };
    const { data: receipt } = await page.api.post(page.path("notifications"), notification, { signal: page.signal });
    event = receipt.id;
    list.done("event", h("a", { href: page.href("events", event) }, code(event)));

    begin("switches");
    await throughSwitches(page, event, what.userId, begin, list);
    await delivered(page, event, device, list);
    list.done("delivery");

    begin("shown");
    if (!(await heard.shown(event, SHOWN_WITHIN_MS))) {
      throw new browser.Refusal(
        "The push service has it, but the browser has not said that it showed it. It may still come: some push services take " +
          "a minute. If it does not, look whether the computer holds notifications back (Do Not Disturb, Focus).",
      );
    }
    list.done("shown", "By the service worker of this console.");
    return event;
  } catch (error) {
    if (page.signal.aborted) return event;
    list.fail(current, words(error));
    return event;
  } finally {
    heard?.stop();
  }
}

function words(error) {
  return error instanceof browser.Refusal ? h("div", { role: "alert" }, error.content) : problem(error, { compact: true });
}

/** The public key, with somebody named who answers for it: without a name nothing is sent. */
async function networkKey(page, subject) {
  const path = page.path("providers", "webpush");
  const { data } = await page.api.get(path, { signal: page.signal });
  if (data.subject) return data;
  if (!subject) {
    throw new browser.Refusal("Push services want to know who answers for the messages. Fill in “Contact” above and try again.");
  }
  return (await page.api.put(path, { subject }, { signal: page.signal })).data;
}

async function register(page, userId, subscription) {
  const id = await browser.deviceID(subscription);
  const { endpoint, keys } = subscription.toJSON();
  const body = { userId, provider: "webpush", subscription: { endpoint, keys }, locale: navigator.language };
  try {
    await page.api.put(page.path("devices", id), body, { signal: page.signal });
  } catch (error) {
    if (!(error instanceof ApiError) || !error.at("/subscription/endpoint")?.includes("webPushHosts")) throw error;
    throw new browser.Refusal(hostIsRefused(page, new URL(endpoint).hostname, error));
  }
  return id;
}

/** The network does not take subscriptions of this push service; its admin may change that at once. */
function hostIsRefused(page, host, error) {
  const allow = async ({ target }) => {
    target.disabled = true;
    try {
      const { data: network } = await page.api.get(page.path(), { signal: page.signal });
      const webPushHosts = [...new Set([...network.webPushHosts, host])];
      await page.api.patch(page.path(), { webPushHosts }, { signal: page.signal });
      target.replaceWith(h("strong", { role: "status" }, "Allowed. Try again."));
    } catch (failure) {
      if (!page.signal.aborted) target.replaceWith(problem(failure, { compact: true }));
    }
  };
  return h(
    "div",
    null,
    h("p", null, "The network takes subscriptions only of the push services that its ", h("code", null, "webPushHosts"),
      " name, and ", code(host), " is none of them."),
    error.requestId && h("p", { class: "muted small" }, "Request ", h("code", null, error.requestId)),
    h("button", { class: "button small", type: "button", on: { click: allow } }, "Allow ", name(host)),
  );
}

async function throughSwitches(page, event, userId, begin, list) {
  const end = Date.now() + DELIVERED_WITHIN_MS;
  while (Date.now() < end) {
    const { data } = await page.api.get(page.path("events", event), { signal: page.signal });
    const { resolved, notified, suppressed, noDevice } = data.recipients;
    if (data.failure) throw new browser.Refusal(`The event has failed: ${data.failure}`);
    const level = Object.keys(suppressed).find((each) => suppressed[each] > 0);
    if (level) throw new browser.Refusal(suppression(page, level, userId));
    if (noDevice > 0) throw new browser.Refusal("Carillon found no device of this user that it may send to.");
    if (resolved > 0 && notified > 0) {
      list.done("switches", "All levels allow it.");
      begin("delivery");
      return;
    }
    await wait(LOOK_EVERY_MS, page.signal);
  }
  throw new browser.Refusal("The event still waits for its recipients to be found. Its page says how it goes on.");
}

function suppression(page, level, userId) {
  if (level === "endpoint") {
    return h("p", null, "An endpoint that is asked before anybody is notified has stopped it. ",
      h("a", { href: page.href("endpoints") }, titleOf("endpoints")));
  }
  if (level === "network") {
    return h("p", null, "The network’s own switches forbid it: everything, the module “direct”, or direct " +
      "notifications are off. ", h("a", { href: page.href("switches") }, "Switches"));
  }
  return h("p", null, `At the ${level} level it is forbidden for `, name(userId), ". ",
    h("a", { href: page.href("people", userId) }, "Their switches"));
}

async function delivered(page, event, device, list) {
  const end = Date.now() + DELIVERED_WITHIN_MS;
  let found = null;
  while (Date.now() < end) {
    const { data } = await page.api.get(page.path("events", event, "deliveries"), { signal: page.signal });
    found = data.items.find((delivery) => delivery.deviceId === device) ?? found;
    if (found?.state === "delivered") return;
    if (found && found.state !== "pending") {
      const { text } = stateWords(found.state);
      throw new browser.Refusal(`${text}: ${found.reason ?? "the push service did not say why"}`);
    }
    if (found?.reason) {
      list.note("delivery", "It waits: ", name(found.reason), ". Tried again ", time(found.at), ".");
    }
    await wait(LOOK_EVERY_MS, page.signal);
  }
  throw new browser.Refusal(
    `It still waits for the push service${found?.reason ? `: ${found.reason}` : ""}. Carillon goes on trying for a day; the event’s ` +
      "page says how it goes.",
  );
}
