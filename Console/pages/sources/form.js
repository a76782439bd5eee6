/**
 * The dialog in which a source is made or changed.
 */

import { h } from "../../core/dom.js";
import { openDialog } from "../../components/dialog.js";
import { field, numberOf, showMistakes } from "../../components/field.js";
import { showSecretsOnce } from "../../components/secret.js";

/**
 * @param {object} page
 * @param {object} [source] the one that is changed
 * @returns {Promise<object|undefined>} the source as it is afterwards; undefined when nothing was done
 */
export async function sourceDialog(page, source) {
  const id = field({ label: "Id", name: "id", mono: true, required: true, autocapitalize: "off", maxlength: "256", placeholder: "crm" });
  const url = field({ label: "URL", name: "url", type: "url", mono: true, required: true, value: source?.url, maxlength: "1024", placeholder: "https://crm.example.org/push" });
  const interval = field({ label: "It is asked every (s)", name: "intervalSeconds", value: source?.intervalSeconds ?? 30, inputmode: "numeric", hint: "3 to 86,400." });
  const enabled = field({ label: "It is asked", name: "enabled", type: "checkbox", value: source?.enabled ?? true });
  const fields = [...(source ? [] : [id]), url, interval, enabled];

  async function run() {
    const missing = fields.find((each) => each.input.required && !each.value.trim());
    if (missing) {
      missing.setError("This is needed.");
      missing.input.focus();
      return false;
    }
    try {
      const body = { url: url.value.trim(), intervalSeconds: numberOf(interval.value), enabled: enabled.value };
      return (await page.api.put(page.path("sources", source?.id ?? id.value), body, { signal: page.signal })).data;
    } catch (error) {
      if (showMistakes(fields, error)) return false;
      throw error;
    }
  }

  const made = await openDialog({
    title: source ? "Change the source" : "New source",
    body: h("form", { class: "form", novalidate: true }, fields),
    actions: [{ label: "Cancel", kind: "quiet" }, { label: source ? "Save" : "Make the source", kind: "primary", run }],
  });
  if (made?.secret) {
    await showSecretsOnce({
      title: "The source’s secret",
      text: "Your server verifies with it who asks. It is shown only now; for another one, remove the source and make it anew.",
      secrets: [{ label: "Source secret", value: made.secret }],
    });
  }
  return made;
}
