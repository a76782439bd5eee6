/**
 * What `/explain` answers: the verdict, the three levels side by side, and what the notification would look like.
 */

import { h, fill } from "../../core/dom.js";
import { now } from "../../core/connection.js";
import { count, providerName } from "../../core/format.js";
import { badge } from "../../components/badge.js";
import { icon } from "../../components/icon.js";
import { code, name } from "../../components/name.js";
import { notificationFrames } from "../../components/notification.js";
import { section } from "../../components/page.js";
import { time } from "../../components/time.js";
import { opinion } from "./verdict.js";
import { deciderInWords, levelName, reasonInWords } from "./words.js";

const MODULES = { "notification.direct": "direct" };

/**
 * @param {object} page
 * @param {object} user
 */
export function explanationView(page, user) {
  const verdict = h("div", { class: "verdict", "aria-live": "polite" });
  const levels = h("ol", { class: "levels" });
  const others = h("div", { class: "why-others" });
  const frames = notificationFrames({ waiting: "Nothing would be shown." });

  function show(answer, event, documents) {
    const delivers = answer.verdict === "deliver";
    const who = name(user.displayName ?? user.id, { longest: 60 });
    verdict.dataset.kind = delivers ? "good" : "bad";
    fill(verdict, icon(delivers ? "check" : "close"), h("div", null,
      h("p", { class: "verdict-title" }, who, delivers ? " would be notified" : " would not be notified",
        delivers && ` on ${count(answer.devices.length, "device")}`),
      h("p", null, deciderInWords(answer.decidedBy),
        answer.reason && [" ", h("strong", null, sentence(reasonInWords(answer.reason, documents[answer.decidedBy], answer.decidedBy)))])));
    fill(levels, answer.levels.map((level) => levelCard(level, answer, event, documents[level.level])));
    fill(others, answer.interception && h("p", null, "Before that, the endpoint ", code(answer.interception.endpointId),
      ` would be asked, and without an answer the notification is ${answer.interception.onFailure === "drop" ? "dropped" : "delivered"}.`),
    answer.devices.length > 0 && h("p", { class: "why-devices" }, "Devices: ",
      answer.devices.map(({ id, provider }) => h("span", { class: "why-device" }, badge(providerName(provider)),
        code(id, { longest: 40 })))));
    if (answer.notification) frames.show(answer.notification);
    else frames.clear("Such an event shows nothing to anybody.");
  }

  return {
    element: h("div", { class: "stack" }, verdict, levels, others,
      section({ title: "What it would look like", note: "On the first of their devices, by its language." }, frames.element)),
    show,
  };
}

function levelCard({ level, allows, updatedAt }, { decidedBy, reason }, event, document) {
  const decides = decidedBy === level;
  const objection = decides ? reason : reasonOf(level, document, event);
  const words = allows ? "Lets it through" : sentence(reasonInWords(objection, document, level)) || "Stops it";
  return h("li", { class: ["level", allows ? "allows" : "forbids", decides && "decides"] },
    h("div", { class: "level-head" }, h("strong", null, levelName(level)),
      decides ? badge("Decides", "bad") : !allows && badge("Stops it, too", "neutral")),
    h("p", { class: "level-words" }, icon(allows ? "check" : "close"), name(words, { longest: 200 })),
    h("p", { class: "muted small" }, updatedAt ? ["Set ", time(updatedAt)] : "Never set"));
}

/** Why a level forbids that did not decide. The answer names only the first reason; this is the next one, by the same rules. */
function reasonOf(level, document, event) {
  if (!document) return null;
  const { mentions, mentionsAll } = event.data;
  const act = { type: event.type, module: MODULES[event.type] ?? "chat", mentions: Boolean(mentionsAll || mentions?.length) };
  const said = opinion(level, document, act, now());
  return said.reason;
}

function sentence(text) {
  return text ? `${text[0].toUpperCase()}${text.slice(1)}.` : "";
}
