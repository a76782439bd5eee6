/**
 * Why a switch stopped something, in words.
 */

import { absoluteTime } from "../../core/format.js";

const MODULES = { chat: "Chat", social: "Social", video: "Video", direct: "Direct notifications" };

/** The modules that the switches know, in the order in which they are shown. */
export const modules = Object.keys(MODULES);

/** `Chat` for `chat` */
export function moduleName(module) {
  return MODULES[module] ?? module;
}

const LEVELS = { network: "Network", user: "User", channel: "Channel" };

/** `Network` for `network` */
export function levelName(level) {
  return LEVELS[level] ?? level;
}

/** `only from moderator` */
export function rolesInWords(roles) {
  if (!roles) return "from anybody";
  if (roles.only) return roles.only.length > 0 ? `only from ${roles.only.join(", ")}` : "from nobody";
  return roles.except?.length > 0 ? `not from ${roles.except.join(", ")}` : "from anybody";
}

/**
 * What a reason of the API says.
 * @param {string|null} reason as `enabled`, `modules.chat.roles`, `mutedUntil 2026-…`
 * @param {object|null} [document] the level's document, for what the reason leaves out
 * @param {string} [level]
 */
export function reasonInWords(reason, document = null, level = "") {
  if (!reason) return "";
  if (reason === "enabled") return level === "channel" ? "the channel is switched off" : "everything is switched off";
  if (reason === "mentionsOnly") return "only mentions are let through";
  if (reason === "notify") return "the event says that nobody is notified";
  if (reason === "visibleTo") return "the event is not visible to them";
  if (reason === "quietHours") {
    const hours = document?.quietHours;
    return hours ? `quiet hours, ${hours.from}–${hours.to} ${hours.timeZone}` : "it is within their quiet hours";
  }
  const [, until] = /^mutedUntil (.+)$/.exec(reason) ?? [];
  if (until) return `muted until ${absoluteTime(until)}`;
  const [, module, roles] = /^modules\.(\w+)(\.roles)?$/.exec(reason) ?? [];
  if (roles) return `${moduleName(module)}: ${rolesInWords(document?.modules?.[module]?.roles ?? { only: ["some roles"] })}`;
  if (module) return `${moduleName(module)} is switched off`;
  const [, event] = /^events\.(.+)$/.exec(reason) ?? [];
  return event ? `${event} is switched off` : reason;
}

const DECIDERS = {
  actor: "They caused it themselves, and nobody is notified of their own act.",
  notMember: "They are not a member of the channel.",
  event: "The event itself keeps it from them.",
  network: "The network’s switches stop it.",
  user: "Their own switches for everything stop it.",
  channel: "Their switches for this channel stop it.",
  noDevice: "Every switch lets it through, but they have no device that could show it.",
};

/** What decided, as a sentence. */
export function deciderInWords(decidedBy) {
  return decidedBy === null ? "Every level lets it through." : (DECIDERS[decidedBy] ?? `It is stopped by ${decidedBy}.`);
}
