/**
 * Composes the event that is asked about.
 */

import { h, fill } from "../../core/dom.js";
import { isAbort } from "../../core/api.js";
import { eventTypeName } from "../../core/format.js";
import { copyButton } from "../../components/copy.js";
import { field } from "../../components/field.js";
import { channelPicker } from "./channel-picker.js";
import { listOf } from "./controls.js";
import { suggestions } from "../../components/suggestions.js";

/** The types of event that can be asked about: those that people are notified of. */
export const TYPES = ["message.sent", "member.joined", "channel.created", "channel.invited", "notification.direct"];
const SUGGESTED_MEMBERS = 50;

/**
 * @param {object} page
 * @param {object} user
 * @param {{onChange: (event: object|null) => void}} options hears of every event that is complete
 */
export function composer(page, user, { onChange }) {
  const changed = () => {
    show();
    onChange(self.event);
  };
  const text = (label, more) => field({ label, onInput: changed, ...more });
  const type = text("What happens", { type: "select", value: TYPES[0], pointer: "/event/type",
    options: TYPES.map((each) => ({ value: each, label: eventTypeName(each) })) });
  const picker = channelPicker(page, user, { onPick: () => {
    suggestMembers();
    changed();
  } });
  picker.element.pointer = "/event/data/channel";
  const actor = text("Who does it",
    { value: "somebody", suggestions: [], pointer: "/event/data/user", maxlength: "256", hint: "The id of a user, known or not." });
  const people = suggestions(page, actor, "users");
  actor.input.addEventListener("change", () => {
    actor.value = people.resolve(actor.value.trim());
    changed();
  });
  const roles = text("With the roles", { pointer: "/event/data/user/roles", placeholder: "as known" });
  const kind = text("Message", { type: "select", value: "text", options: [
    { value: "text", label: "Text" }, { value: "image", label: "Image" }, { value: "other", label: "Anything else" }] });
  const words = text("Text", { type: "textarea", rows: 2, value: "Hello", pointer: "/event/data/message/text" });
  const mentions = text("Mentions them", { type: "checkbox", value: false });
  const mentionsAll = text("Mentions everybody", { type: "checkbox", value: false });
  const heading = text("Title", { value: "Hello", pointer: "/event/data/title" });
  const body = text("Text", { type: "textarea", rows: 2, value: "This is a direct notification.", pointer: "/event/data/body" });
  const places = h("div", { class: "fields" });
  const source = h("pre", { class: "source", tabindex: "0", "aria-label": "The event as JSON" });
  const copyPlace = h("span");

  const shown = {
    "message.sent": () => [picker.element, h("div", { class: "fields-row" }, actor, roles), kind, kind.value === "text" && words,
      h("div", { class: "checks" }, mentions, mentionsAll)],
    "member.joined": () => [picker.element, h("div", { class: "fields-row" }, actor, roles)],
    "channel.created": () => [picker.element, h("div", { class: "fields-row" }, actor, roles)],
    "channel.invited": () => [picker.element, h("div", { class: "fields-row" }, actor, roles)],
    "notification.direct": () => [heading, body, picker.element],
  };
  let isShownAs = null;

  function show() {
    const key = `${type.value} ${kind.value}`;
    if (key !== isShownAs) {
      isShownAs = key;
      actor.querySelector("label").textContent = type.value === "member.joined" ? "Who joins" : "Who does it";
      picker.element.querySelector("label").textContent = type.value === "notification.direct" ? "In channel (optional)" : "In channel";
      fill(places, shown[type.value]());
    }
    const json = self.event ? JSON.stringify(self.event, null, 2) : "";
    fill(source, json || "A channel is needed.");
    fill(copyPlace, json && copyButton(json, "event"));
  }

  function eventOf() {
    const channel = picker.value;
    if (type.value === "notification.direct") {
      return { type: type.value, data: { to: { userIds: [user.id] }, title: heading.value, body: body.value,
        ...(channel && { channelId: channel }) } };
    }
    const who = actor.value.trim();
    if (!channel || !who) return null;
    const person = { id: who, ...(roles.value.trim() && { roles: listOf(roles.value) }) };
    if (type.value === "member.joined") return { type: type.value, data: { channel: { id: channel }, members: [person] } };
    if (type.value === "channel.created") return { type: type.value, data: { channel: { id: channel }, user: person, members: [user.id] } };
    if (type.value === "channel.invited") return { type: type.value, data: { channel: { id: channel }, user: person, invited: [user.id] } };
    return { type: type.value, data: {
      channel: { id: channel }, user: person,
      message: { type: kind.value, ...(kind.value === "text" && { text: words.value }) },
      ...(mentions.value && { mentions: [user.id] }), ...(mentionsAll.value && { mentionsAll: true }),
    } };
  }

  async function suggestMembers() {
    people.clear();
    if (!picker.isKnown(picker.value)) return;
    try {
      const { data } = await page.api.get(page.path("channels", picker.value, "members"),
        { query: { limit: SUGGESTED_MEMBERS }, signal: page.signal });
      const others = data.items.map(({ userId }) => userId).filter((id) => id !== user.id);
      people.add(others.map((id) => ({ id })));
      if (actor.value === "somebody" && others.length > 0) {
        actor.value = others[0];
        changed();
      }
    } catch (error) {
      // Suggestions only: whatever is wrong is said by the answer to the question itself.
      if (!isAbort(error)) people.clear();
    }
  }

  const self = {
    element: h("div", { class: "composer fields" }, type, places,
      h("details", null, h("summary", null, "As JSON, for ", h("code", null, "POST /explain")),
        h("div", { class: "source-frame" }, source, copyPlace))),
    fields: [type, picker.element, actor, roles, words, heading, body],
    get event() {
      return eventOf();
    },
    async load() {
      await picker.load();
      if (!picker.value) picker.first();
      await suggestMembers();
      show();
    },
    /** Takes over what is known of an event of before. */
    take({ type: wanted, channelId, userId }) {
      type.value = TYPES.includes(wanted) ? wanted : TYPES[0];
      if (channelId) picker.set(channelId);
      if (userId) actor.value = userId;
      changed();
    },
  };
  return self;
}
