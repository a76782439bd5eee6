/**
 * The network's own switches. Each is saved as soon as it is moved, can be taken back for ten seconds, and is not saved
 * over what somebody else has changed meanwhile.
 */

import { h, fill } from "../core/dom.js";
import { absoluteTime, eventTypeName } from "../core/format.js";
import { readStats, spans } from "../core/stats.js";
import { openDialog } from "../components/dialog.js";
import { notice } from "../components/notice.js";
import { facts, pageView, section } from "../components/page.js";
import { problem } from "../components/problem.js";
import { toggle } from "../components/switch.js";
import { time } from "../components/time.js";
import { toast } from "../components/toast.js";
import { toggleDocument } from "../components/toggle-document.js";
import { effectOf } from "./switches/effects.js";

export const title = "Switches";
export const styles = ["toggles", "switches"];

const OTHERS_MS = 15_000;

const MODULES = {
  chat: ["Chat", "New channels, joining members and messages; direct notifications that name this module."],
  social: ["Social", "Direct notifications that name this module."],
  video: ["Video", "Direct notifications that name this module."],
  direct: ["Direct", "Direct notifications that name no other module."],
};

const EVENTS = {
  "channel.created": "Whoever is a member of a new channel from its beginning hears of it.",
  "channel.invited": "Whoever is invited to a channel hears of it.",
  "member.joined": "The members of a channel hear who joins it.",
  "message.sent": "The members of a channel hear of each message.",
  "notification.direct": "What no event of the chat caused: reminders, builds, silent pushes.",
};

/** One switch: where it stands in the document, and its words. */
const ALL = [
  { kind: "all", label: "All notifications", words: "The one switch for everything that this network sends.", large: true },
  ...Object.entries(MODULES).map(([key, [label, words]]) => ({ kind: "modules", key, label, words })),
  ...Object.entries(EVENTS).map(([key, words]) => ({ kind: "events", key, label: eventTypeName(key), words })),
];

const read = (document, { kind, key }) => (kind === "all" ? document.enabled : document[kind][key].enabled);
const set = (document, { kind, key }, enabled) => Object.assign(kind === "all" ? document : document[kind][key], { enabled });
const word = (isOn) => (isOn ? "on" : "off");

export async function render(page) {
  const document = toggleDocument(page, page.path("notifications"));
  await document.load();
  let stats = null;
  const since = h("span");
  const note = h("div", { class: "switches-note" });

  const rows = ALL.map((each) => {
    const effect = h("span", { class: "effect" });
    const row = toggle({ label: each.label, checked: read(document.value, each), large: each.large,
      description: [each.words, effect],
      onFlip: (enabled) => save(each, enabled) });
    row.each = each;
    row.effect = effect;
    return row;
  });
  const rowOf = (each) => rows.find((row) => row.each === each);

  function show() {
    const shown = document.value;
    for (const row of rows) {
      const isOn = read(shown, row.each);
      if (!row.control.isBusy) row.control.checked = isOn;
      fill(row.effect, effectOf(stats, row.each.kind, row.each.key, isOn));
    }
    fill(since, shown.updatedAt ? ["Last changed ", time(shown.updatedAt), "."] : "Never changed: everything is as it was at the beginning.");
    fill(note, !shown.enabled && notice("bad", h("strong", null, "Everything is off. "),
      "Nothing below sends anything until all notifications are on again; what is changed here holds from then on."));
  }

  async function save(each, enabled) {
    try {
      await document.change(`${each.label}: ${word(enabled)}`, (next) => set(next, each, enabled), {
        name: each.label, settle: (mine, wanted) => resolve(mine, each, read(wanted, each)), onUndo: () => rowOf(each).control.focus() });
    } catch (error) {
      // Somebody else may have done the same.
      if (read(document.value, each) !== enabled) throw error;
    }
  }

  /** Somebody else was here: shows what they changed, and asks whose word holds. */
  async function resolve(mine, each, enabled) {
    const shown = document.value;
    const changed = ALL.filter((other) => read(mine, other) !== read(shown, other));
    const theirs = read(shown, each);
    return openDialog({
      title: shown.updatedAt ? h("span", null, "Somebody else changed this at ", h("time", { datetime: shown.updatedAt }, absoluteTime(shown.updatedAt)))
        : "Somebody else put the switches back to their defaults",
      body: [
        changed.length > 0 ? h("div", null, h("p", null, "What they changed:"), facts(changed.map((other) =>
          [other.label, `${word(read(mine, other))} → ${word(read(shown, other))}`])))
          : h("p", null, "All switches are as you saw them; they may have been moved and moved back."),
        theirs === enabled ? h("p", null, `${each.label} is ${word(theirs)} now, as you wanted it.`)
          : h("p", null, "You wanted ", h("strong", null, `${each.label}: ${word(enabled)}`), `. It is ${word(theirs)} and was not touched.`),
      ],
      actions: theirs === enabled ? [{ label: "Good", kind: "primary", value: false }] : [
        { label: `Leave it ${word(theirs)}`, kind: "quiet", value: false },
        { label: `Switch it ${word(enabled)} all the same`, kind: "primary", value: true },
      ],
    });
  }

  document.onChange(show);
  page.live(async () => {
    const mine = await document.refresh();
    const changed = mine ? ALL.filter((each) => read(mine, each) !== read(document.value, each)) : [];
    if (changed.length > 0) toast(`Somebody else changed: ${changed.map((each) => `${each.label} ${word(read(document.value, each))}`).join(", ")}`, { seconds: 10 });
  }, OTHERS_MS);

  const figuresNote = h("div");
  page.live(async () => {
    stats = await readStats(page, spans.day);
    fill(figuresNote);
    show();
  }, 60_000, { onError: (error) => {
    if (!error.isPassing) fill(figuresNote, problem(error, { compact: true }));
  } });

  show();
  const [everything, ...others] = rows;
  const of = (kind) => others.filter((row) => row.each.kind === kind);
  return pageView({ title: "Switches", lead: ["What this network sends at all. People’s own switches come after these. ", since] },
    section({ class: "switch-all" }, everything, note),
    figuresNote,
    h("div", { class: "columns" },
      section({ title: "Modules" }, of("modules")),
      section({ title: "Event types" }, of("events"))));
}
