/**
 * A notification for this very browser, through the whole pipeline: each step is shown as it happens.
 */

import { ApiError } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { duration, stateWords } from "../../core/format.js";
import { wait } from "../../core/wait.js";
import { titleOf } from "../../core/pages.js";
import { code, name } from "../../components/name.js";
import { problem } from "../../components/problem.js";
import { time } from "../../components/time.js";
import * as browser from "./browser.js";

const LOOK_EVERY_MS = 400;
/** A step that is not over by then says what it waits for, and a while later gives up. */
const SAYS_AFTER_MS = 8000;
const GIVES_UP_AFTER_MS = 30_000;
const CARILLON = "the answer of Carillon";

/** What each step waits for. */
const WAITS = {
  able: "the browser",
  permission: "your answer to the browser’s question. It may be hidden behind a symbol beside the address",
  key: CARILLON,
  worker: "the service worker to start",
  subscription: "the browser’s push service. Without a way to it, as behind a firewall, browsers wait for long",
  device: CARILLON,
  event: CARILLON,
  switches: "Carillon to find whom it is for. Other events may be before it",
  delivery: "the push service to take it",
  shown: "the push service to bring it to this browser. Some take a minute; Do Not Disturb or Focus may hold it back",
};

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
  /** Goes through one step: `act` does it, and answers what it was; `begin` says something before that. */
  async function go(key, act, done = () => [], ...begin) {
    current = key;
    list.start(key, ...begin);
    const result = await within(page, list, key, act, () => event);
    list.done(key, ...done(result));
    return result;
  }
  try {
    await go("able", browser.requireAbility);
    await go("permission", browser.requirePermission, () => ["Allowed."], "Your browser asks you now.");
    const key = await go("key", () => networkKey(page, what.subject), ({ subject }) => ["Signed for ", name(subject)]);
    const registration = await go("worker", browser.requireWorker);
    heard = browser.listen();
    const subscription = await go("subscription", () => browser.subscribe(registration, key.publicKey),
      ({ endpoint }) => ["At ", code(new URL(endpoint).host)]);
    const device = await go("device", () => register(page, what.userId, subscription), (id) => [code(id), " of ", name(what.userId)]);
    event = await go("event", async () => {
      const notification = { to: { deviceIds: [device] }, title: what.title, body: what.body };
      return (await page.api.post(page.path("notifications"), notification, { signal: page.signal })).data.id;
    }, (id) => [h("a", { href: page.href("events", id) }, code(id))]);
    await go("switches", (signal) => throughSwitches(page, event, what.userId, signal), () => ["All levels allow it."]);
    await go("delivery", (signal) => delivered(page, event, device, list, signal));
    await go("shown", () => heard.shown(event), () => ["By the service worker of this console."]);
    return event;
  } catch (error) {
    if (page.signal.aborted) return event;
    list.fail(current, words(error));
    return event;
  } finally {
    heard?.stop();
  }
}

/** Waits for a step: says after a while for what, and gives up after a longer one. Whatever still comes then counts for nothing. */
async function within(page, list, key, act, eventOf) {
  const over = new AbortController();
  const signal = AbortSignal.any([page.signal, over.signal]);
  let end;
  const say = setTimeout(() => list.note(key, `It waits for ${WAITS[key]}.`), SAYS_AFTER_MS);
  const late = new Promise((_, reject) => {
    end = setTimeout(() => reject(new browser.Refusal(givenUp(page, key, eventOf()))), GIVES_UP_AFTER_MS);
  });
  try {
    return await Promise.race([act(signal), late]);
  } finally {
    clearTimeout(say);
    clearTimeout(end);
    over.abort();
  }
}

function givenUp(page, key, event) {
  return h("p", null, `Given up after ${duration(GIVES_UP_AFTER_MS)}: it waited for ${WAITS[key]}.`,
    event && [" Carillon goes on trying for a day: ", h("a", { href: page.href("events", event) }, "the event’s page"), " says how it goes."]);
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

/** Asks until there is an answer: what passes by itself says nothing of the notification. */
async function patiently(page, path, signal) {
  for (;;) {
    try {
      return await page.api.get(path, { signal });
    } catch (error) {
      if (!error.isPassing) throw error;
      await wait(Math.max(LOOK_EVERY_MS, (error.retryAfter ?? 0) * 1000), signal);
    }
  }
}

async function throughSwitches(page, event, userId, signal) {
  for (;;) {
    const { data } = await patiently(page, page.path("events", event), signal);
    const { resolved, notified, suppressed, noDevice } = data.recipients;
    if (data.failure) throw new browser.Refusal(`The event has failed: ${data.failure}`);
    const level = Object.keys(suppressed).find((each) => suppressed[each] > 0);
    if (level) throw new browser.Refusal(suppression(page, level, userId));
    if (noDevice > 0) throw new browser.Refusal("Carillon found no device of this user that it may send to.");
    if (resolved > 0 && notified > 0) return;
    await wait(LOOK_EVERY_MS, signal);
  }
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

async function delivered(page, event, device, list, signal) {
  let told = null;
  for (;;) {
    const { data } = await patiently(page, page.path("events", event, "deliveries"), signal);
    const found = data.items.find((delivery) => delivery.deviceId === device);
    if (found?.state === "delivered") return;
    if (found && found.state !== "pending") {
      const { text } = stateWords(found.state);
      throw new browser.Refusal(`${text}: ${found.reason ?? "the push service did not say why"}`);
    }
    if (found?.reason && found.at !== told) {
      told = found.at;
      list.note("delivery", "It waits: ", name(found.reason), ". Tried again ", time(found.at), ".");
    }
    await wait(LOOK_EVERY_MS, signal);
  }
}
