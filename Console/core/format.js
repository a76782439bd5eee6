/**
 * Numbers, times and states in words.
 */

import { now } from "./connection.js";

const numbers = new Intl.NumberFormat("en-GB");
const short = new Intl.NumberFormat("en-GB", { notation: "compact", maximumFractionDigits: 1 });
const absolute = new Intl.DateTimeFormat("en-GB", {
  year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit", timeZoneName: "short",
});
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const clockWithSeconds = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3,
});
const day = new Intl.DateTimeFormat("en-GB", { weekday: "short", day: "numeric", month: "short" });

/** `12,345` */
export function number(value) {
  return Number.isFinite(value) ? numbers.format(value) : "–";
}

/** `12.3K`, for axes and badges. */
export function shortNumber(value) {
  return Number.isFinite(value) ? short.format(value) : "–";
}

/** `1 event`, `2 events` */
export function count(value, one, many = `${one}s`) {
  return `${number(value)} ${value === 1 ? one : many}`;
}

/** `340 ms`, `2.4 s`, `3 min`, `5 h`, `2 d` */
export function duration(ms) {
  if (!Number.isFinite(ms)) return "–";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 90_000) return `${Math.round(ms / 1000)} s`;
  if (ms < 90 * 60_000) return `${Math.round(ms / 60_000)} min`;
  if (ms < 36 * 3_600_000) return `${Math.round(ms / 3_600_000)} h`;
  return `${Math.round(ms / 86_400_000)} d`;
}

/** `21 Nov 2026, 22:00:05 GMT`; what is no time comes back as it is. */
export function absoluteTime(at) {
  const ms = toMs(at);
  return Number.isNaN(ms) ? String(at ?? "–") : absolute.format(ms);
}

/** `22:05` */
export function clockTime(at) {
  const ms = toMs(at);
  return Number.isNaN(ms) ? "–" : clock.format(ms);
}

/** `22:05:13.120`: for stages that are milliseconds apart. */
export function preciseTime(at) {
  const ms = toMs(at);
  return Number.isNaN(ms) ? "–" : clockWithSeconds.format(ms);
}

/** `Sat 21 Nov` */
export function dayOf(at) {
  const ms = toMs(at);
  return Number.isNaN(ms) ? "–" : day.format(ms);
}

/** `just now`, `3 min ago`, `in 5 s`, by the service's clock. */
export function relativeTime(at) {
  const ms = toMs(at);
  if (Number.isNaN(ms)) return String(at ?? "–");
  const distance = now() - ms;
  if (Math.abs(distance) < 2000) return "just now";
  const seconds = Math.round(Math.abs(distance) / 1000);
  const words = seconds < 10 ? `${seconds} s` : duration(Math.abs(distance));
  return distance > 0 ? `${words} ago` : `in ${words}`;
}

function toMs(at) {
  if (at instanceof Date) return at.getTime();
  return typeof at === "number" ? at : Date.parse(at ?? "");
}

const EVENT_TYPES = {
  "channel.created": "Channel created",
  "channel.updated": "Channel updated",
  "channel.deleted": "Channel deleted",
  "channel.invited": "Invitation",
  "member.joined": "Member joined",
  "member.left": "Member left",
  "message.sent": "Message sent",
  "message.deleted": "Message deleted",
  "notification.direct": "Direct notification",
  "user.updated": "User updated",
  "user.deleted": "User deleted",
};

/** All types of events that the API knows. */
export const eventTypes = Object.keys(EVENT_TYPES);

/** `Message sent` for `message.sent`; an unknown type is shown as it is. */
export function eventTypeName(type) {
  return EVENT_TYPES[type] ?? String(type);
}

const PROVIDERS = { apns: "APNs", fcm: "FCM", webpush: "Web Push", webhook: "Webhook", log: "Log" };

/** `Web Push` for `webpush` */
export function providerName(provider) {
  return PROVIDERS[provider] ?? String(provider);
}

/** Words and colour of every state that the API has. */
const STATES = {
  accepted: ["Accepted", "info"],
  delivering: ["Delivering", "info"],
  done: ["Done", "good"],
  pending: ["Waiting", "info"],
  delivered: ["Delivered", "good"],
  unregistered: ["Unregistered", "warn"],
  expired: ["Expired", "warn"],
  dead: ["Given up", "bad"],
  suppressed: ["Suppressed", "neutral"],
  active: ["Active", "good"],
  quarantined: ["Quarantined", "warn"],
  enabled: ["Enabled", "good"],
  disabled: ["Disabled", "neutral"],
  closed: ["Working", "good"],
  open: ["Paused", "bad"],
  failed: ["Failed", "bad"],
  failing: ["Failing", "bad"],
  working: ["Working", "good"],
  idle: ["Idle", "neutral"],
  new: ["New", "info"],
  off: ["Off", "bad"],
};

/** Whether a lane waits for what somebody has to store: a credential, a subject, a secret. */
export const lacksCredential = (reason) => /^no (credential|subject|signing secret)\b/.test(reason ?? "");

/** How a lane fares: one that lacks something is paused, one whose sending goes wrong is failing. */
export function laneState({ circuit, reason }) {
  return circuit === "open" && !lacksCredential(reason) ? "failing" : circuit;
}

/** @returns {{text: string, kind: "neutral"|"info"|"good"|"warn"|"bad"}} */
export function stateWords(state) {
  const [text, kind] = STATES[state] ?? [String(state), "neutral"];
  return { text, kind };
}

/** The ids of a text, with commas or line breaks between them. */
export function idsIn(text) {
  return (text ?? "").split(/[,\n]/).map((each) => each.trim()).filter(Boolean);
}

/** A time as `<input type="datetime-local">` has it, in the zone of whoever looks at it. */
export function localTime(ms) {
  const shifted = new Date(ms - new Date(ms).getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 19);
}
