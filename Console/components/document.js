/**
 * A document of settings as a small form: fields for what is usual, and the JSON itself for the rest.
 */

import { h } from "../core/dom.js";
import { field, numberOf } from "./field.js";

/** The value at a path of a document. */
function read(document, path) {
  return path.reduce((inner, key) => inner?.[key], document);
}

/** The document with another value at a path; what is left empty by that goes. */
function written(node, [key, ...rest], value) {
  const copy = Array.isArray(node) ? [...node] : node && typeof node === "object" ? { ...node } : typeof key === "number" ? [] : {};
  const inner = rest.length > 0 ? written(copy[key], rest, value) : value;
  if (inner !== undefined) copy[key] = inner;
  else if (Array.isArray(copy)) copy.splice(key, 1);
  else delete copy[key];
  return Object.keys(copy).length > 0 ? copy : undefined;
}

/** How each kind of field shows a value, and what it makes of what was typed; `undefined` leaves the member out. */
const KINDS = {
  text: { show: (value) => value ?? "", take: (text) => text.trim() || undefined },
  lines: { show: (value) => value ?? "", take: (text) => (text.trim() ? `${text.trim()}\n` : undefined) },
  number: { show: (value) => value ?? "", take: (text) => (text.trim() ? numberOf(text) : undefined) },
  list: { show: (value) => (Array.isArray(value) ? value.join(", ") : value ?? ""), take: (text) => {
    const items = text.split(/[,\s]+/).filter(Boolean);
    return items.length > 0 ? items : undefined;
  } },
  select: { show: (value) => value ?? "", take: (value) => value || undefined },
  checkbox: { show: Boolean, take: Boolean },
};
const INPUTS = { list: "text", number: "text", lines: "textarea" };

function shown(value) {
  return typeof value === "number" || typeof value === "string" ? String(value) : value;
}

/** Whether a text is a JSON object, and which. */
function parsed(text) {
  try {
    const value = JSON.parse(text);
    return value && typeof value === "object" && !Array.isArray(value) ? { value } : { mistake: "This has to be a JSON object: {…}." };
  } catch (error) {
    return { mistake: `This is no JSON: ${error.message}` };
  }
}

/** A member of a document in a line: `ios: (appId: com.acme.chat), ttlSeconds: 60` for one that has members itself. */
export function settingInWords(value) {
  if (Array.isArray(value)) return value.map(inner).join(", ");
  if (value === null || typeof value !== "object") return String(value);
  return Object.entries(value).map(([member, each]) => `${member}: ${inner(each)}`).join(", ");
}

function inner(value) {
  return value && typeof value === "object" ? `(${settingInWords(value)})` : settingInWords(value);
}

/**
 * @param {object} what
 * @param {Array<{path: Array<string|number>, label: string, kind?: keyof typeof KINDS, usual?: any, show?: (value) => any,
 *   take?: (typed, value) => any, when?: (document: object) => boolean}>} what.fields
 *   the usual members: `path` within the document, `usual` what holds where nothing is said, `when` it applies at all; `show` and
 *   `take` for what is no plain value; anything else is for `field()`
 * @param {object} what.value
 * @returns {HTMLElement & {value: object|null, fields: Array<HTMLElement>}} `value` is null while the JSON is none, which is
 *   then said and in front; `fields` are those that are shown
 */
export function documentForm({ fields, value }) {
  let current = value;
  const inputs = fields.map(({ path, label, kind = "text", usual, show = KINDS[kind].show, take = KINDS[kind].take, when, ...rest }) => {
    const input = field({
      label, name: path.join("."), pointer: `/${path.join("/")}`, type: INPUTS[kind] ?? kind, ...rest,
      inputmode: kind === "number" ? "numeric" : null,
      onInput: (typed) => {
        current = written(current, path, take(typed, read(current, path))) ?? {};
        showJSON();
        place();
      },
    });
    if (kind === "lines" || kind === "list") input.classList.add("whole");
    return { input, when, show: () => {
      input.value = shown(show(read(current, path) ?? usual));
    } };
  });
  const json = field({ label: "All of it as JSON", name: "document", type: "textarea", rows: 10, mono: true, pointer: "/", onInput: (text) => {
    const { value: typed, mistake } = parsed(text);
    json.setError(mistake ?? null);
    if (typed) current = typed;
    if (typed) showFields();
  } });
  const details = h("details", { class: "document-json whole" }, h("summary", null, "As JSON"), json);
  const element = h("div", { class: "document" }, inputs.map(({ input }) => input), details);

  function place() {
    for (const { input, when } of inputs) input.hidden = when ? !when(current) : false;
  }

  function showFields() {
    for (const { show } of inputs) show();
    place();
  }

  function showJSON() {
    json.setError(null);
    json.value = JSON.stringify(current, null, 2);
  }

  Object.defineProperty(element, "value", { get: () => {
    const { mistake } = parsed(json.value);
    if (!mistake) return current;
    details.open = true;
    json.setError(mistake);
    json.input.focus();
    return null;
  } });
  Object.defineProperty(element, "fields", { get: () => inputs.map(({ input }) => input).filter((input) => !input.hidden) });
  showFields();
  showJSON();
  return element;
}
