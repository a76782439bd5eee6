/**
 * A user's switches, and who would win: network, user and channel side by side.
 */

import { h, fill, refill } from "../../core/dom.js";
import { isAbort } from "../../core/api.js";
import { now } from "../../core/connection.js";
import { badge } from "../../components/badge.js";
import { skeleton } from "../../components/empty.js";
import { icon } from "../../components/icon.js";
import { name } from "../../components/name.js";
import { section } from "../../components/page.js";
import { problem } from "../../components/problem.js";
import { toggle } from "../../components/switch.js";
import { table } from "../../components/table.js";
import { time } from "../../components/time.js";
import { toggleDocument } from "../../components/toggle-document.js";
import { channelPicker } from "./channel-picker.js";
import { muteLine, quietLine, rolesControl } from "./controls.js";
import { ACTS, LEVELS, opinion, winner } from "./verdict.js";
import { levelName, moduleName, modules, reasonInWords, rolesInWords } from "./words.js";

const REFRESH_MS = 15_000;

/**
 * @param {object} page
 * @param {object} user
 */
export function switchesTab(page, user) {
  const place = h("div", { class: "stack" }, skeleton(6));
  begin();
  return place;

  async function begin() {
    try {
      const documents = {
        network: toggleDocument(page, page.path("notifications")),
        user: toggleDocument(page, page.path("users", user.id, "notifications")),
      };
      const picker = channelPicker(page, user, { onPick: (channel) => {
        page.setQuery({ channel });
        pick(channel);
      } });
      await Promise.all([documents.network.load(), documents.user.load(), picker.load()]);
      const board = whoWins();
      const cards = h("div", { class: "switch-cards" });
      const userPlace = h("div");
      documents.user.onChange(() => {
        refill(userPlace, userLines(documents.user));
        update();
      });
      fill(userPlace, userLines(documents.user));

      function update() {
        board.show(documents);
      }

      async function pick(channel) {
        documents.channel = undefined;
        const channelPlace = h("div", null,
          channel ? skeleton(3) : h("p", { class: "muted" }, "Choose a channel to see and change what they set for it."));
        fill(cards,
          section({ title: "Their switches for everything" }, userPlace),
          section({ title: channel ? h("span", null, "For ", picker.nameOf(channel)) : "For a channel" }, channelPlace));
        update();
        if (!channel) return;
        try {
          const mine = toggleDocument(page, page.path("users", user.id, "channels", channel, "notifications"));
          documents.channel = mine;
          mine.onChange(() => {
            refill(channelPlace, channelLines(mine));
            if (mine === documents.channel) update();
          });
          await mine.load();
        } catch (error) {
          if (!isAbort(error)) fill(channelPlace, problem(error, { compact: true, retry: () => pick(channel) }));
        }
      }

      fill(place,
        section({ title: "Who would win", note: "The first level that forbids decides. All three must allow.", flush: true,
          actions: [picker.element] }, board.element),
        cards,
        h("p", { class: "muted small" }, "The network’s switches are changed under ", h("a", { href: page.href("switches") }, "Switches"),
          "."));
      await pick(page.query.channel ?? picker.first());
      // Coming back to this tab makes it anew: the one that was left is not to go on.
      const left = new AbortController();
      page.live(async () => {
        if (!place.isConnected) return left.abort();
        await Promise.all(Object.values(documents).map((document) => document?.value && document.refresh()));
        update();
      }, REFRESH_MS, { signal: AbortSignal.any([page.signal, left.signal]) });
    } catch (error) {
      if (!isAbort(error)) fill(place, problem(error, { retry: begin }));
    }
  }
}

/** The table of all kinds of notification and what each level says to them. */
function whoWins() {
  const rows = table({
    caption: "Who would win",
    rowKey: ({ act }) => act.id,
    columns: [
      { title: "Of what", cell: ({ act }) => h("strong", null, act.name) },
      ...LEVELS.map((level, index) => ({ title: levelName(level), cell: ({ opinions }) => opinionView(opinions[index]) })),
      { title: "So", cell: ({ outcome }) => outcomeView(outcome) },
    ],
  });

  function show(documents) {
    const moment = now();
    rows.setRows(ACTS.map((act) => {
      const opinions = LEVELS.map((level) => {
        const document = documents[level]?.value ?? null;
        // A direct notification has no channel unless its sender names one.
        const isAsked = level !== "channel" || (document && act.id !== "direct");
        const said = opinion(level, isAsked ? document : null, act, moment);
        return { level, ...said, words: isAsked ? wordsOf(said, document, level) : "not asked", isAsked };
      });
      return { act, opinions, outcome: winner(opinions) };
    }));
  }

  return { element: rows, show };
}

function wordsOf({ allows, reason, roles }, document, level) {
  if (allows === true) return "allows";
  return allows === null ? rolesInWords(roles) : reasonInWords(reason, document, level);
}

function opinionView({ allows, words, isAsked }) {
  if (!isAsked) return h("span", { class: "muted" }, words);
  const kind = allows === true ? "good" : allows === null ? "warn" : "bad";
  return h("span", { class: ["opinion", kind] }, icon(allows === true ? "check" : allows === null ? "people" : "close"),
    name(words, { longest: 120 }));
}

function outcomeView({ verdict, level }) {
  if (verdict === "deliver") return badge("Notified", "good");
  if (verdict === "depends") return badge("Depends on who acts", "warn");
  return badge(`${levelName(level)} stops it`, "bad");
}

function foot(document) {
  const { updatedAt } = document.value;
  return h("div", { class: "switch-foot" },
    h("span", { class: "muted small" }, updatedAt ? ["Changed ", time(updatedAt)] : "Never changed: these are the defaults."),
    updatedAt && h("button", { class: "button small quiet", type: "button",
      on: { click: () => document.change("These are the defaults again.", null).catch(() => {}) } }, "Back to the defaults"));
}

function userLines(document) {
  const { enabled, modules: set } = document.value;
  return [
    toggle({ label: "Notifications", description: enabled ? "On, as far as the rest allows." : "Off: nothing reaches them.",
      checked: enabled,
      onFlip: (on) => document.change(`Notifications are switched ${on ? "on" : "off"}.`, (next) => {
        next.enabled = on;
      }) }),
    modules.filter((module) => set[module]).map((module) => toggle({
      label: moduleName(module), description: rolesControl(document, module), checked: set[module].enabled,
      onFlip: (on) => document.change(`${moduleName(module)} is switched ${on ? "on" : "off"}.`, (next) => {
        next.modules[module].enabled = on;
      }),
    })),
    muteLine(document, "everything"),
    quietLine(document),
    foot(document),
  ];
}

function channelLines(document) {
  const { enabled, mentionsOnly } = document.value;
  return [
    toggle({ label: "This channel", description: enabled ? "On." : "Off: not even mentions get through.", checked: enabled,
      onFlip: (on) => document.change(`The channel is switched ${on ? "on" : "off"}.`, (next) => {
        next.enabled = on;
      }) }),
    toggle({ label: "Mentions only", description: "Lets only messages through that mention them.", checked: mentionsOnly,
      onFlip: (on) => document.change(on ? "Only mentions are let through." : "Not only mentions are let through.", (next) => {
        next.mentionsOnly = on;
      }) }),
    muteLine(document, "this channel"),
    foot(document),
  ];
}
