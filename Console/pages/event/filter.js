/**
 * Which of an event's devices are shown: what the address says.
 */

import { h } from "../../core/dom.js";
import { providerName, stateWords } from "../../core/format.js";
import { field } from "../../components/field.js";
import { inAddress } from "../../components/filters.js";

const TYPING_MS = 350;
const KEYS = ["state", "provider", "userId"];
const FAILED = "dead,expired,unregistered";
const STATES = [["", "Any state"], [FAILED, "Not reached"],
  ...["pending", "delivered", "dead", "expired", "unregistered", "suppressed"].map((state) => [state, stateWords(state).text])];
const PROVIDERS = ["apns", "fcm", "webpush", "webhook", "log"];

/** What the address asks for. @returns {object} */
export const askedOf = (page) => Object.fromEntries(KEYS.map((key) => [key, page.query[key]]));

/** Whether that is less than all. */
export const isFiltered = (page) => KEYS.some((key) => page.query[key]);

/**
 * @param {object} page
 * @param {() => void} onChange
 */
export function deviceFilter(page, onChange) {
  const change = inAddress(page, onChange);
  const choice = (key, label, options) => field({ label, name: key, type: "select", value: page.query[key] ?? "", onInput: change(key, 0),
    options: options.map(([value, text]) => ({ value, label: text })) });
  return h("form", { class: "filters", role: "search", "aria-label": "Filter devices", on: { submit: (event) => event.preventDefault() } },
    choice("state", "Device’s state", STATES),
    choice("provider", "Through", [["", "Any provider"], ...PROVIDERS.map((each) => [each, providerName(each)])]),
    field({ label: "User’s id", name: "userId", type: "search", value: page.query.userId, maxlength: "256", onInput: change("userId", TYPING_MS) }));
}
