/**
 * What the holder of a face's key may do, as each system says it.
 */

import { h, uniqueID } from "../../core/dom.js";
import { field } from "../../components/field.js";
import { icon } from "../../components/icon.js";

const CAPABILITIES = ["push-subscribe", "publish", "push-admin", "history"];
const SCOPES = ["messages.write", "devices.read", "devices.write", "subscriptions.read", "subscriptions.write", "tags.read", "tags.write"];
const APPLICATION = "push.application.";

function choice(value, isChecked = false) {
  const id = uniqueID("right");
  const input = h("input", { class: "check", id, type: "checkbox", value, checked: isChecked });
  const element = h("label", { class: "check-label", for: id }, input, h("code", null, value));
  element.input = input;
  return element;
}

const chosen = (choices) => choices.filter(({ input }) => input.checked).map(({ input }) => input.value);

/** Ably: resources, and what may be done with each. */
function capability() {
  const rows = [];
  const place = h("div", { class: "rights" });

  function add(resource = "", operations = []) {
    const input = field({ label: "Channels", name: "resource", value: resource, mono: true, hint: "A name, chat:* or *." });
    const choices = CAPABILITIES.map((operation) => choice(operation, operations.includes(operation)));
    const row = { input, choices, element: h("fieldset", { class: "right" }, h("legend", { class: "visually-hidden" }, "On these channels"),
      input, h("div", { class: "choices" }, choices)) };
    rows.push(row);
    place.append(row.element);
    return row;
  }
  add("*", ["push-admin"]);
  const more = h("button", { class: "button small", type: "button", on: { click: () => add().input.input.focus() } }, icon("plus"), "Other channels");
  return {
    element: h("div", { class: "rights" }, place, more),
    value: () => Object.fromEntries(rows.filter(({ input }) => input.value.trim()).map(({ input, choices }) => [input.value.trim(), chosen(choices)])),
  };
}

/** MobileFirst: scopes on applications, or one of the headers of older apps. */
function scopes() {
  const kind = field({ label: "It is for", name: "kind", type: "select", value: "scopes", onInput: show, options: [
    { value: "scopes", label: "a back end, with scopes" },
    { value: "appSecret", label: "older back ends: the header appSecret" },
    { value: "clientSecret", label: "older apps: the header clientSecret" },
  ] });
  const choices = SCOPES.map((scope) => choice(scope, scope === "messages.write"));
  const applications = field({ label: "Applications", name: "applications", value: "*", mono: true, hint: "Ids with commas between them, or *." });
  const place = h("fieldset", { class: "right" }, h("legend", { class: "visually-hidden" }, "Scopes"), h("div", { class: "choices" }, choices), applications);
  function show() {
    place.hidden = kind.value !== "scopes";
  }
  return {
    element: h("div", { class: "rights" }, kind, place),
    value: () => (kind.value === "scopes"
      ? [...chosen(choices), ...applications.value.split(/[,\s]+/).filter(Boolean).map((id) => APPLICATION + id)] : [kind.value]),
  };
}

const FORMS = { capability, scopes, device: () => ({ element: null, value: () => "device" }), none: () => ({ element: null, value: () => undefined }) };

/**
 * The fields for the rights of a new key.
 * @param {keyof typeof FORMS} kind
 * @returns {{element: HTMLElement|null, value: () => any}}
 */
export function rightsForm(kind) {
  return FORMS[kind]();
}

/** Rights in a line, as they were given. */
export function rightsInWords(rights) {
  if (rights === null || rights === undefined) return null;
  if (Array.isArray(rights)) return rights.join(", ");
  if (typeof rights !== "object") return String(rights);
  return Object.entries(rights).map(([resource, operations]) => `${resource}: ${[operations].flat().join(", ")}`).join("; ");
}
