/**
 * The first steps of a network, each ticked when it is true.
 */

import { h } from "../../core/dom.js";
import { lacksCredential } from "../../core/format.js";
import { titleOf } from "../../core/pages.js";
import { keysOf, readStats, spans } from "../../core/stats.js";
import { step } from "../../components/steps.js";

/** Of so many users the devices are looked at: the API lists devices by their users only. */
const USERS_LOOKED_AT = 10;
const NATIVE = ["message.sent", "member.joined", "channel.created"];

const STEPS = [
  { key: "credential", label: "Store a credential", text: "Apple and Google want one for each app; Web Push wants to know who answers for it.", to: "providers" },
  { key: "key", label: "Give the back end a key", text: "One of role events; or it is a chat back end whose webhooks are taken.", to: "keys" },
  { key: "event", label: "Post the first event", text: "What happens in a channel: somebody writes, or joins.", to: "try", refused: "posts" },
  { key: "device", label: "Register the first device", text: "Apps do it when their users sign in, with a token of the user’s.", to: "people" },
  { key: "browser", label: "Notify this browser", text: "A real notification, through everything, without an account with anybody.", to: "try" },
];

/** Each question by its step; they are asked at the same time. */
function questions(page) {
  const get = async (segments, query) => (await page.api.get(page.path(...segments), { query, signal: page.signal })).data;
  const webpush = get(["providers", "webpush"]);
  return {
    async credential() {
      const [{ items }, { subject }] = await Promise.all([get(["providers"]), webpush]);
      return Boolean(subject) || items.some(({ appId, reason }) => appId && !lacksCredential(reason));
    },
    async key() {
      const [keys, dialects] = await Promise.all([get(["api-keys"], { limit: 1000 }), get(["dialects"])]);
      return dialects.items.some(({ document }) => document?.enabled) || keys.items.some(({ role }) => role === "events");
    },
    async event() {
      const found = await Promise.all(NATIVE.map((type) => get(["events"], { type, limit: 1 })));
      return found.some(({ items }) => items.length > 0);
    },
    async device() {
      const { points } = await readStats(page, spans.week);
      if (keysOf(points, "deliveries").length > 0) return true;
      const { items } = await get(["users"], { limit: USERS_LOOKED_AT });
      const devices = await Promise.all(items.map(({ id }) => get(["users", id, "devices"], { limit: 1 })));
      return devices.some((each) => each.items.length > 0);
    },
    async browser() {
      const { publicKey } = await webpush;
      if (!publicKey || globalThis.Notification?.permission !== "granted") return false;
      const { deviceID, subscribed } = await import("../try/browser.js");
      const subscription = await subscribed(publicKey);
      if (!subscription) return false;
      return get(["devices", await deviceID(subscription)]).then(() => true, (error) => {
        if (error.status === 404) return false;
        throw error;
      });
    },
  };
}

/**
 * What was done of the first steps.
 * @returns {Promise<{element: Element, isDone: boolean}>}
 */
export async function firstSteps(page) {
  const ask = questions(page);
  const ticks = await Promise.all(STEPS.map(({ key }) => ask[key]()));
  const element = h("ol", { class: "steps first-steps" }, STEPS.map(({ key, label, text, to, refused }, index) => step({
    key, state: ticks[index] ? "done" : "waiting", label: h("a", { href: page.href(to) }, label),
    detail: [text, !ticks[index] && h("span", { class: "muted" }, ` Under ${titleOf(to)}.`,
      refused && [" What was refused, and why, is under ", h("a", { href: page.href(refused) }, titleOf(refused)), "."])],
  })));
  return { element, isDone: ticks.every(Boolean) };
}
