/**
 * Who would win: what each level says to each kind of notification, by the rules of the service's own evaluator. `/explain`
 * is the judge of a real event; this is the table that shows all of them at once.
 */

/** The kinds of notification that the switches tell apart. */
export const ACTS = [
  { id: "message", name: "Messages", type: "message.sent", module: "chat" },
  { id: "mention", name: "Messages that mention them", type: "message.sent", module: "chat", mentions: true },
  { id: "joined", name: "Somebody joined", type: "member.joined", module: "chat" },
  { id: "created", name: "A new channel", type: "channel.created", module: "chat" },
  { id: "direct", name: "Direct notifications", type: "notification.direct", module: "direct" },
];

export const LEVELS = ["network", "user", "channel"];

/**
 * What one level says.
 * @param {"network"|"user"|"channel"} level
 * @param {object|null} document as `GET` shows it; null where there is no channel to ask
 * @param {object} act one of `ACTS`
 * @param {number} now
 * @returns {{allows: boolean|null, reason: string|null, roles: object|null}} `allows` is null where it depends on the
 *   roles of who acts
 */
export function opinion(level, document, act, now) {
  if (!document) return { allows: true, reason: null, roles: null };
  const forbidden = (reason) => ({ allows: false, reason, roles: null });
  if (!document.enabled) return forbidden("enabled");
  if (level === "network") {
    if (document.modules[act.module]?.enabled === false) return forbidden(`modules.${act.module}`);
    if (document.events[act.type]?.enabled === false) return forbidden(`events.${act.type}`);
    return { allows: true, reason: null, roles: null };
  }
  const module = level === "user" ? document.modules[act.module] : null;
  if (module?.enabled === false) return forbidden(`modules.${act.module}`);
  if (module?.roles?.only?.length === 0) return forbidden(`modules.${act.module}.roles`);
  if (document.mutedUntil && Date.parse(document.mutedUntil) > now) return forbidden(`mutedUntil ${document.mutedUntil}`);
  if (document.quietHours && isQuiet(document.quietHours, now)) return forbidden("quietHours");
  if (document.mentionsOnly && !act.mentions) return forbidden("mentionsOnly");
  const roles = module?.roles && (module.roles.only || module.roles.except?.length > 0) ? module.roles : null;
  return { allows: roles ? null : true, reason: roles ? `modules.${act.module}.roles` : null, roles };
}

/**
 * The level that decides, and what comes of it.
 * @param {Array<{level: string, allows: boolean|null}>} opinions in the order of the levels
 * @returns {{verdict: "deliver"|"suppress"|"depends", level: string|null}}
 */
export function winner(opinions) {
  const forbids = opinions.find(({ allows }) => allows === false);
  if (forbids) return { verdict: "suppress", level: forbids.level };
  const depends = opinions.find(({ allows }) => allows === null);
  return depends ? { verdict: "depends", level: depends.level } : { verdict: "deliver", level: null };
}

/** Whether a moment is in quiet hours, by the wall clocks of their time zone; false where the browser does not know it. */
function isQuiet({ from, to, timeZone }, now) {
  let time;
  try {
    time = new Intl.DateTimeFormat("en-GB", { timeZone, hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).format(now);
  } catch {
    return false;
  }
  return from < to ? time >= from && time < to : time >= from || time < to;
}
