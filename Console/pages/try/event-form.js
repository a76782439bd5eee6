/**
 * The form that makes an event: one for each type that people are notified of.
 */

import { fill, h } from "../../core/dom.js";
import { eventTypeName, idsIn } from "../../core/format.js";
import { field } from "../../components/field.js";

const IDS = "User ids, with commas between them.";
const CHANNEL = { name: "channel", label: "Channel id", value: "general", required: true, pointer: "/data/channel" };
const CHANNEL_NAME = { name: "channelName", label: "Channel name", hint: "Optional; updates the directory." };

/** The fields of each type. */
const FIELDS = {
  "message.sent": [
    CHANNEL,
    CHANNEL_NAME,
    { name: "user", label: "From (user id)", value: "alice", hint: "Never notified of it.", pointer: "/data/user" },
    { name: "userName", label: "From (name)", hint: "Optional; updates the directory." },
    { name: "text", label: "Text", value: "Hello", type: "textarea", rows: 2, pointer: "/data/message" },
    { name: "kind", label: "Kind", type: "select", value: "text", options: ["text", "image", "other"] },
    { name: "mentions", label: "Mentions", hint: IDS, pointer: "/data/mentions" },
    { name: "members", label: "Add members", hint: `${IDS} A channel without members notifies nobody.`, pointer: "/data/members" },
  ],
  "member.joined": [
    CHANNEL,
    CHANNEL_NAME,
    { name: "members", label: "Who joins", value: "carol", required: true, hint: `${IDS} Who was there before is notified.`, pointer: "/data/members" },
    { name: "user", label: "Added by (user id)", hint: "Optional; never notified of it.", pointer: "/data/user" },
  ],
  "channel.created": [
    CHANNEL,
    CHANNEL_NAME,
    { name: "user", label: "Creator (user id)", value: "alice", hint: "Never notified of it.", pointer: "/data/user" },
    { name: "userName", label: "Creator (name)", hint: "Optional; updates the directory." },
    { name: "members", label: "Members", value: "bob, carol", hint: IDS, pointer: "/data/members" },
  ],
};
const SHARED = ["channel", "channelName", "user", "userName"];

function described(id, displayName) {
  return displayName ? { id, displayName } : { id };
}

/** What the fields say, as `POST /events` takes it. */
export function eventOf(type, values) {
  const data = { channel: described(values.channel, values.channelName) };
  const members = idsIn(values.members).map((id) => ({ id }));
  if (values.user) data.user = described(values.user, values.userName);
  if (members.length > 0 || type !== "message.sent") data.members = members;
  if (type === "message.sent") {
    data.message = { type: values.kind, text: values.text };
    if (idsIn(values.mentions).length > 0) data.mentions = idsIn(values.mentions);
  }
  return { type, data };
}

/**
 * @param {{onChange: () => void}} options called whenever what the form says has changed
 * @returns {{element: Element, value: () => object}}
 */
export function eventForm({ onChange }) {
  const place = h("div", { class: "form-grid" });
  const options = Object.keys(FIELDS).map((value) => ({ value, label: eventTypeName(value) }));
  const type = field({ label: "Type", name: "type", type: "select", options, value: "message.sent", pointer: "/type" });
  let fields = [];

  function values() {
    return Object.fromEntries(fields.map((each) => [each.input.name, each.value]));
  }

  function build() {
    const former = values();
    fields = FIELDS[type.value].map((each) => {
      const kept = SHARED.includes(each.name) ? former[each.name] : undefined;
      return field({ ...each, value: kept ?? each.value, onInput: onChange });
    });
    fill(place, fields);
    onChange();
  }

  type.input.addEventListener("change", build);
  const value = () => eventOf(type.value, values());
  const element = h("div", { class: "event-form" }, type, place);
  return { element, value, build };
}
