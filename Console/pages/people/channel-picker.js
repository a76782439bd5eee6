/**
 * Chooses one of a user's channels, or any other by its id or name.
 */

import { field } from "../../components/field.js";
import { name } from "../../components/name.js";
import { suggestions } from "../../components/suggestions.js";

const SHOWN = 200;

/**
 * @param {object} page
 * @param {object} user
 * @param {{onPick: (channel: string|null) => void}} options
 */
export function channelPicker(page, user, { onPick }) {
  let picked = page.query.channel ?? null;
  const input = field({ label: "In channel", value: picked ?? "", suggestions: [], placeholder: "id or name", maxlength: "256",
    onInput: (text) => {
    if (known.has(text)) pick(text);
  } });
  const known = suggestions(page, input, "channels");
  input.classList.add("channel-picker");
  input.input.addEventListener("change", () => {
    input.value = known.resolve(input.value.trim());
    pick(input.value);
  });

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
      known.add(data.items);
    },
    /** The first channel, chosen; null where there is none. */
    first() {
      picked = known.first();
      input.value = picked ?? "";
      return picked;
    },
    set(id) {
      picked = id;
      input.value = id;
    },
    isKnown: (id) => known.has(id),
    nameOf: (id) => name(known.nameOf(id) ?? id, { longest: 60 }),
  };
}
