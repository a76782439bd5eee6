/**
 * The dialog in which a channel is made, or described anew.
 */

import { h } from "../../core/dom.js";
import { openDialog } from "../../components/dialog.js";
import { field, showMistakes } from "../../components/field.js";

/**
 * @param {object} page
 * @param {object} [channel] the one that is changed
 * @returns {Promise<object|undefined>} the channel as it is afterwards; undefined when nothing was done
 */
export function channelDialog(page, channel) {
  const id = field({ label: "Id", name: "id", mono: true, required: true, autocapitalize: "off", maxlength: "256", hint: "Your chat back end’s own; it cannot be changed." });
  const displayName = field({ label: "Name", name: "displayName", value: channel?.displayName, maxlength: "1000" });
  const direct = field({ label: "It is a conversation of two", name: "direct", type: "checkbox", value: channel?.direct,
    hint: "Its messages have a title of their own, such as the sender’s name alone." });
  const fields = [...(channel ? [] : [id]), displayName, direct];

  async function run() {
    if (!channel && !id.value) {
      id.setError("This is needed.");
      id.input.focus();
      return false;
    }
    // A name that is stated as empty is none; one that is left out stays unsaid.
    const body = { direct: direct.value, ...(displayName.value || channel?.displayName ? { displayName: displayName.value || null } : {}) };
    try {
      return (await page.api.put(page.path("channels", channel?.id ?? id.value), body, { signal: page.signal })).data;
    } catch (error) {
      if (showMistakes(fields, error)) return false;
      throw error;
    }
  }

  return openDialog({
    title: channel ? "Change the channel" : "New channel",
    body: h("form", { class: "form", novalidate: true }, fields),
    actions: [{ label: "Cancel", kind: "quiet" }, { label: channel ? "Save" : "Make the channel", kind: "primary", run }],
  });
}
