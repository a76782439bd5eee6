/**
 * The network's own switches. Each is saved as soon as it is moved, can be taken back for ten seconds, and is not saved
 * over what somebody else has changed meanwhile.
 */

import { isAbort } from "../core/api.js";
import { h, fill } from "../core/dom.js";
import { absoluteTime, eventTypeName } from "../core/format.js";
import { readStats, spans } from "../core/stats.js";
import { openDialog } from "../components/dialog.js";
import { notice } from "../components/notice.js";
import { facts, pageView, section } from "../components/page.js";
import { problem } from "../components/problem.js";
import { toggle } from "../components/switch.js";
import { time } from "../components/time.js";
import { announce, toast } from "../components/toast.js";
import { effectOf } from "./switches/effects.js";

export const title = "Switches";
export const styles = ["toggles", "switches"];

const OTHERS_MS = 15_000;
const UNDO_SECONDS = 10;

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
const patchOf = ({ kind, key }, enabled) => (kind === "all" ? { enabled } : { [kind]: { [key]: { enabled } } });
const word = (isOn) => (isOn ? "on" : "off");

export async function render(page) {
  const path = page.path("notifications");
  const first = await page.api.get(path, { signal: page.signal });
  let shown = first.data;
  let etag = first.etag;
  let stats = null;
  // Moves when a change begins and when it ends: an answer that was asked for before is older than what is shown.
  let changes = 0;
  const since = h("span");
  const note = h("div", { class: "switches-note" });

  const rows = ALL.map((each) => {
    const effect = h("span", { class: "effect" });
    const row = toggle({ label: each.label, checked: read(shown, each), large: each.large,
      description: [each.words, effect],
      onFlip: (enabled) => save(each, enabled) });
    row.each = each;
    row.effect = effect;
    return row;
  });
  const rowOf = (each) => rows.find((row) => row.each === each);

  function show() {
    for (const row of rows) {
      const isOn = read(shown, row.each);
      row.control.checked = isOn;
      fill(row.effect, effectOf(stats, row.each.kind, row.each.key, isOn));
    }
    fill(since, shown.updatedAt ? ["Last changed ", time(shown.updatedAt), "."] : "Never changed: everything is as it was at the beginning.");
    fill(note, !shown.enabled && notice("bad", h("strong", null, "Everything is off. "),
      "Nothing below sends anything until all notifications are on again; what is changed here holds from then on."));
  }

  /** Without the page's signal: what was begun is finished, and can be taken back, also after the page is left. */
  async function patch(each, enabled) {
    changes += 1;
    try {
      take(await page.api.patch(path, patchOf(each, enabled), { headers: { "if-match": etag } }));
    } finally {
      changes += 1;
    }
  }

  function take(answer) {
    shown = answer.data;
    etag = answer.etag;
    show();
  }

  async function save(each, enabled) {
    const before = read(shown, each);
    try {
      await patch(each, enabled);
    } catch (error) {
      if (isAbort(error)) throw error;
      await settle(error, each, enabled, { refused: "not saved", failed: "could not be saved" });
      if (read(shown, each) !== enabled) throw error;
      return;
    }
    toast(`${each.label}: ${word(enabled)}`, { kind: "good", seconds: UNDO_SECONDS, action: before === enabled ? undefined : {
      label: "Undo", run: () => undo(each, before) } });
  }

  async function undo(each, enabled) {
    rowOf(each).control.focus();
    try {
      await patch(each, enabled);
      announce(`${each.label} is ${word(enabled)} again`);
    } catch (error) {
      if (isAbort(error)) return;
      await settle(error, each, enabled, { refused: "not put back", failed: "could not be put back" });
    }
  }

  /** What follows when the service has not taken a change. Whoever has left the page is told, and asked nothing. */
  async function settle(error, each, enabled, words) {
    try {
      if (error.status !== 412) tellProblem(`${each.label} ${words.failed}`, error);
      else if (page.signal.aborted) toast(`${each.label}: changed meanwhile; ${words.refused}.`, { kind: "bad", seconds: 12 });
      else await resolve(each, enabled);
    } catch (another) {
      if (!isAbort(another)) tellProblem(`${each.label} ${words.failed}`, another);
    }
    show();
  }

  function tellProblem(what, error) {
    // A detail alone may not say what it is about.
    const said = [...new Set([error.problem?.title, error.message].filter(Boolean))].join(": ");
    toast(h("span", null, h("strong", null, `${what}. `), said, error.requestId ? ` (request ${error.requestId})` : ""),
      { kind: "bad", seconds: 15 });
  }

  /** Somebody else was here: shows what they changed, and asks whose word holds. */
  async function resolve(each, enabled) {
    const mine = shown;
    await refresh();
    const changed = ALL.filter((other) => read(mine, other) !== read(shown, other));
    const theirs = read(shown, each);
    const wants = await openDialog({
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
        { label: `Switch it ${word(enabled)} all the same`, kind: "primary", run: async () => {
          await patch(each, enabled);
          return true;
        } },
      ],
    });
    if (wants === true) announce(`${each.label} is ${word(enabled)}`);
    show();
  }

  async function refresh() {
    take(await page.api.get(path));
  }

  page.live(async () => {
    const seen = changes;
    const answer = await page.api.get(path, { headers: { "if-none-match": etag }, signal: page.signal });
    if (seen !== changes || answer.status === 304 || answer.etag === etag || rows.some((row) => row.control.isBusy)) return;
    const changed = ALL.filter((each) => read(shown, each) !== read(answer.data, each));
    take(answer);
    if (changed.length > 0) toast(`Somebody else changed: ${changed.map((each) => `${each.label} ${word(read(shown, each))}`).join(", ")}`, { seconds: 10 });
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
