/**
 * Chooses one of a user's channels, or any other by its id.
 */

import { h } from "../../core/dom.js";
import { field } from "../../components/field.js";
import { name } from "../../components/name.js";

const SHOWN = 200;

/**
 * @param {object} page
 * @param {object} user
 * @param {{label?: string, value?: string, onPick: (channel: string|null) => void}} options
 */
export function channelPicker(page, user, { label = "In channel", value, onPick }) {
  const names = new Map();
  let picked = value ?? page.query.channel ?? null;
  const input = field({ label, value: picked ?? "", suggestions: [], placeholder: "id of a channel", maxlength: "256", onInput: (text) => {
    if (names.has(text)) pick(text);
  } });
  input.classList.add("channel-picker");
  input.input.addEventListener("change", () => pick(input.value.trim()));

  function pick(text) {
    const next = text || null;
    if (next === picked) return;
    picked = next;
    onPick(next);
  }

  return {
    element: input,
    get value() {
      return input.value.trim() || null;
    },
    /** Learns the user's channels, for suggestions. */
    async load() {
      const { data } = await page.api.get(page.path("users", user.id, "channels"), { query: { limit: SHOWN }, signal: page.signal });
      for (const { id, displayName } of data.items) names.set(id, displayName);
      input.querySelector("datalist").append(...data.items.map(({ id, displayName }) => h("option", { value: id }, displayName ?? id)));
    },
    /** The first channel, chosen; null where there is none. */
    first() {
      const [id = null] = names.keys();
      picked = id;
      input.value = id ?? "";
      return id;
    },
    set(id) {
      picked = id;
      input.value = id;
    },
    isKnown: (id) => names.has(id),
    nameOf: (id) => name(names.get(id) ?? id, { longest: 60 }),
  };
}
