/**
 * What can be set besides on and off: a mute, quiet hours, and whose acts to hear of.
 */

import { h } from "../../core/dom.js";
import { now } from "../../core/connection.js";
import { absoluteTime } from "../../core/format.js";
import { openDialog } from "../../components/dialog.js";
import { field, showMistakes } from "../../components/field.js";
import { name } from "../../components/name.js";
import { time } from "../../components/time.js";
import { moduleName, rolesInWords } from "./words.js";

const MUTES = [["1 hour", 3_600_000], ["8 hours", 28_800_000], ["1 day", 86_400_000]];

/** One line of a card: words to the left, what can be done to the right. */
export function line(label, description, ...acts) {
  return h("div", { class: "toggle" },
    h("div", { class: "toggle-words" }, h("div", { class: "toggle-label" }, label), h("div", { class: "toggle-description" }, description)),
    h("div", { class: "line-acts" }, acts));
}

function act(label, run, hiddenWords) {
  return h("button", { class: "button small", type: "button", on: { click: () => run()?.catch?.(() => {}) } }, label,
    hiddenWords && h("span", { class: "visually-hidden" }, ` ${hiddenWords}`));
}

/**
 * The mute of a document.
 * @param {ReturnType<import("../../components/toggle-document.js").toggleDocument>} document
 * @param {string} whose in words: "everything", "this channel"
 */
export function muteLine(document, whose) {
  const { mutedUntil } = document.value;
  const isMuted = mutedUntil && Date.parse(mutedUntil) > now();
  const mute = (until, options) => document.change(`Muted until ${absoluteTime(until)}.`, (next) => {
    next.mutedUntil = until;
  }, options);
  if (isMuted) {
    return line("Muted", h("span", null, "until ", absoluteTime(mutedUntil), ", ", time(mutedUntil)),
      act("Unmute", () => document.change("Not muted any more.", (next) => {
        next.mutedUntil = null;
      }), whose));
  }
  return line("Muted", "Not now. A mute suppresses; nothing is sent later instead.",
    MUTES.map(([label, ms]) => act(label, () => mute(new Date(now() + ms).toISOString()), `mute of ${whose}`)),
    act("Until…", () => openMute(mute, document.value), `mute of ${whose}`));
}

function openMute(mute, seen) {
  const until = field({ label: "Muted until", type: "datetime-local", required: true, pointer: "/mutedUntil",
    hint: "By the clock of this computer." });
  return openDialog({
    title: "Mute until",
    body: h("div", { class: "form" }, until),
    actions: [
      { label: "Cancel", kind: "quiet" },
      { label: "Mute", kind: "primary", run: async () => {
        const date = new Date(until.value);
        if (Number.isNaN(date.getTime()) || date.getTime() <= now()) {
          until.setError("A time that is still to come is needed.");
          return false;
        }
        return saved(() => mute(date.toISOString(), { seen, isInDialog: true }), [until]);
      } },
    ],
  });
}

/** Quiet hours. */
export function quietLine(document) {
  const { quietHours } = document.value;
  const words = quietHours ? h("span", null, `${quietHours.from}–${quietHours.to}, `, name(quietHours.timeZone)) : "None.";
  return line("Quiet hours", words, act(quietHours ? "Change…" : "Set…", () => openQuiet(document), "quiet hours"),
    quietHours && act("Remove", () => document.change("There are no quiet hours any more.", (next) => {
      next.quietHours = null;
    }), "quiet hours"));
}

function openQuiet(document) {
  const seen = document.value;
  const { quietHours } = seen;
  const from = field({ label: "From", type: "time", value: quietHours?.from ?? "22:00", required: true, pointer: "/quietHours/from" });
  const to = field({ label: "To", type: "time", value: quietHours?.to ?? "07:00", required: true, pointer: "/quietHours/to",
    hint: "Over midnight where it is earlier." });
  const zone = field({ label: "Time zone", value: quietHours?.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone, required: true,
    pointer: "/quietHours/timeZone", suggestions: Intl.supportedValuesOf("timeZone"), maxlength: "64" });
  return openDialog({
    title: "Quiet hours",
    body: h("div", { class: "form" }, h("div", { class: "fields-row" }, from, to), zone,
      h("p", { class: "muted" }, "What comes in these hours is suppressed, not postponed.")),
    actions: [
      { label: "Cancel", kind: "quiet" },
      { label: "Save", kind: "primary", run: async () => {
        if (from.value === to.value) {
          to.setError("The two times must differ.");
          return false;
        }
        return saved(() => document.change("Quiet hours are set.", (next) => {
          next.quietHours = { from: from.value, to: to.value, timeZone: zone.value.trim() };
        }, { seen, isInDialog: true }), [from, to, zone]);
      } },
    ],
  });
}

/** Whose acts a module is heard of, as a line of text with a button. */
export function rolesControl(document, module) {
  const { roles } = document.value.modules[module];
  return h("span", { class: "roles-control" }, name(rolesInWords(roles), { longest: 120 }), " ",
    h("button", { class: "link-button", type: "button", on: { click: () => openRoles(document, module) } }, "Change",
      h("span", { class: "visually-hidden" }, ` whose acts count for ${moduleName(module)}`)));
}

function openRoles(document, module) {
  const seen = document.value;
  const { roles } = seen.modules[module];
  const kind = field({ label: "Whose acts they hear of", type: "select", value: roles?.only ? "only" : roles?.except ? "except" : "any",
    options: [{ value: "any", label: "Anybody’s" }, { value: "only", label: "Only of people with these roles" },
      { value: "except", label: "Of all but people with these roles" }],
    onInput: follow });
  const list = field({ label: "Roles", value: (roles?.only ?? roles?.except ?? []).join(", "), pointer: `/modules/${module}/roles`,
    hint: "With commas between them. “Only” without any lets nobody through." });

  function follow() {
    list.hidden = kind.value === "any";
  }
  follow();

  return openDialog({
    title: `${moduleName(module)}: whose acts`,
    body: h("div", { class: "form" }, kind, list),
    actions: [
      { label: "Cancel", kind: "quiet" },
      { label: "Save", kind: "primary", run: () => saved(() => document.change("Saved whose acts they hear of.", (next) => {
        next.modules[module].roles = kind.value === "any" ? null : { [kind.value]: listOf(list.value) };
      }, { seen, isInDialog: true }), [kind, list]) },
    ],
  });
}

/** The texts between commas. */
export function listOf(text) {
  return [...new Set(text.split(",").map((each) => each.trim()).filter(Boolean))];
}

/** Runs a change for a dialog: what is wrong with a field stands beside it. What somebody else has changed closes the dialog. */
async function saved(change, fields) {
  try {
    await change();
    return true;
  } catch (error) {
    if (error.status === 412) return true;
    if (showMistakes(fields, error)) return false;
    throw error;
  }
}
