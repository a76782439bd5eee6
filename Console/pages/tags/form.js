/**
 * The dialog in which a tag is declared, or described anew.
 */

import { h } from "../../core/dom.js";
import { openDialog } from "../../components/dialog.js";
import { field, showMistakes } from "../../components/field.js";

/**
 * @param {object} page
 * @param {{id: string, description?: string|null, selfService?: boolean}} [tag] the one that is changed
 * @returns {Promise<object|undefined>} the tag as it is afterwards; undefined when nothing was done
 */
export function tagDialog(page, tag) {
  const id = field({ label: "Tag", name: "id", mono: true, required: true, autocapitalize: "off", maxlength: "256", placeholder: "beta" });
  const description = field({ label: "Description", name: "description", value: tag?.description, maxlength: "1000" });
  const selfService = field({ label: "Users may subscribe themselves", name: "selfService", type: "checkbox", value: tag?.selfService,
    hint: "With their own tokens, from their apps. Otherwise only your back end subscribes them." });
  const fields = [...(tag ? [] : [id]), description, selfService];

  async function run() {
    if (!tag && !id.value) {
      id.setError("This is needed.");
      id.input.focus();
      return false;
    }
    try {
      const body = { description: description.value || null, selfService: selfService.value };
      return (await page.api.put(page.path("tags", tag?.id ?? id.value), body, { signal: page.signal })).data;
    } catch (error) {
      if (showMistakes(fields, error)) return false;
      throw error;
    }
  }

  return openDialog({
    title: tag ? "Change the tag" : "New tag",
    body: h("form", { class: "form", novalidate: true }, fields),
    actions: [{ label: "Cancel", kind: "quiet" }, { label: tag ? "Save" : "Declare the tag", kind: "primary", run }],
  });
}
