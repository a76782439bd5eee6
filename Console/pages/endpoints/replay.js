/**
 * The dialog that tells an endpoint of former events once more.
 */

import { h } from "../../core/dom.js";
import { now } from "../../core/connection.js";
import { localTime } from "../../core/format.js";
import { openDialog } from "../../components/dialog.js";
import { field, showMistakes } from "../../components/field.js";

const HOUR = 3_600_000;

function instant(text) {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? text : new Date(ms).toISOString();
}

/**
 * @param {object} page
 * @param {object} endpoint
 * @returns {Promise<number|undefined>} how many events; undefined when nothing was done
 */
export async function replayDialog(page, endpoint) {
  const attributes = { type: "datetime-local", step: "1", required: true };
  const from = field({ label: "Accepted from", name: "from", value: localTime(now() - HOUR), ...attributes });
  const to = field({ label: "Until", name: "to", value: localTime(now()), ...attributes });
  const types = field({ label: "Only these events", name: "types", mono: true, placeholder: endpoint.events.join(", "), hint: "Types with commas between them; all that it wants when empty." });
  const onlyFailed = field({ label: "Only what it did not take", name: "onlyFailed", type: "checkbox", value: true });

  async function run() {
    const body = { from: instant(from.value), to: instant(to.value), onlyFailed: onlyFailed.value };
    const wanted = types.value.split(/[,\s]+/).filter(Boolean);
    if (wanted.length > 0) body.types = wanted;
    try {
      return (await page.api.post(page.path("endpoints", endpoint.id, "replay"), body, { signal: page.signal })).data;
    } catch (error) {
      if (showMistakes([from, to, types, onlyFailed], error)) return false;
      throw error;
    }
  }

  const started = await openDialog({
    title: "Replay",
    body: h("form", { class: "form", novalidate: true },
      h("p", null, `Events of the last ${endpoint.replayHours} hours can be told again, marked as a replay, behind what happens now.`),
      from, to, types, onlyFailed),
    actions: [
      { label: "Cancel", kind: "quiet" },
      { label: "Replay", kind: "primary", run },
    ],
  });
  return started?.events;
}
