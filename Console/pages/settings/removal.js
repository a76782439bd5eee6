/**
 * Removing a network with everything in it: by whoever runs the service, and not by accident.
 */

import { h } from "../../core/dom.js";
import { addressOf } from "../../core/router.js";
import { openDialog } from "../../components/dialog.js";
import { field } from "../../components/field.js";
import { code } from "../../components/name.js";
import { section } from "../../components/page.js";

/** @param {object} page */
export function removalSection(page) {
  async function ask() {
    const typed = field({ label: "Type the network’s id to remove it", name: "id", mono: true, autocapitalize: "off", maxlength: "256" });
    const isGone = await openDialog({
      title: "Remove this network?",
      body: [
        h("p", null, "Its users, channels, devices, keys, templates and all that was sent are removed. ", h("strong", null, "This cannot be taken back.")),
        h("p", null, "The network is ", code(page.network, { longest: 256 }), "."),
        h("form", { class: "form", novalidate: true }, typed),
      ],
      actions: [
        { label: "Cancel", kind: "quiet" },
        { label: "Remove it", kind: "danger", run: async () => {
          if (typed.value !== page.network) {
            typed.setError("This is not its id.");
            typed.input.focus();
            return false;
          }
          await page.api.delete(page.path(), { signal: page.signal });
          return true;
        } },
      ],
    });
    if (isGone) await page.navigate(addressOf());
  }

  return section({ title: "Remove this network", note: "With everything in it." },
    h("button", { class: "button danger", type: "button", on: { click: ask } }, "Remove this network…"));
}
