/**
 * Webhook devices: the secret that what is posted to them is signed with.
 */

import { h } from "../../core/dom.js";
import { randomID } from "../../core/random.js";
import { confirm, openDialog } from "../../components/dialog.js";
import { field, showMistakes } from "../../components/field.js";
import { section } from "../../components/page.js";
import { problem } from "../../components/problem.js";
import { showSecretsOnce } from "../../components/secret.js";
import { toast } from "../../components/toast.js";

const OVERLAPS = [
  { label: "None: receivers must know the new one at once", value: "0" },
  { label: "1 hour", value: "3600" },
  { label: "1 day", value: "86400" },
  { label: "7 days", value: "604800" },
];

/** @param {object} page */
export function webhookSection(page) {
  async function rotate() {
    const overlap = field({ label: "The former secret signs as well for", name: "overlapSeconds", type: "select", options: OVERLAPS,
      value: "86400" });
    const key = randomID();
    const made = await openDialog({
      title: "A new secret for webhooks",
      body: h("div", { class: "form" },
        h("p", null, "Receivers verify with the secret that what they get comes from this network. Meanwhile each message carries a signature of both."), overlap),
      actions: [
        { label: "Cancel", kind: "quiet" },
        { label: "Make the secret", kind: "primary", run: async () => {
          try {
            const { data } = await page.api.post(page.path("providers", "webhook", "secret"), { overlapSeconds: Number(overlap.value) },
              { headers: { "idempotency-key": key } });
            return data;
          } catch (error) {
            if (showMistakes([overlap], error)) return false;
            throw error;
          }
        } },
      ],
    });
    if (made) await showSecretsOnce({ title: "The new secret", secrets: [{ label: "Webhook secret", value: made.secret }] });
  }

  async function forget() {
    const isSure = await confirm({
      title: "Forget the webhooks’ secret?",
      text: h("div", { class: "stack" },
        h("p", null, h("strong", null, "The next webhook is signed with a new secret alone"),
          ", and receivers that verify with the former one refuse it."),
        h("p", null, "Nobody has seen the new one: make another one afterwards to give it to the receivers. What they refuse is tried again until it expires.")),
      act: "Forget it",
      danger: true,
    });
    if (!isSure) return;
    try {
      await page.api.delete(page.path("providers", "webhook"));
      toast("The secret is forgotten. Make a new one for the receivers.", { kind: "good" });
    } catch (error) {
      toast(problem(error, { compact: true }), { kind: "bad", seconds: 15 });
    }
  }

  return section({ title: "Webhooks", note: "For devices that are URLs of your own." },
    h("p", null, "Every message is signed as Standard Webhooks says. The secret is made on first use and shown only when it is made."),
    h("div", { class: "form-buttons" },
      h("button", { class: "button small", type: "button", on: { click: rotate } }, "Make a new secret"),
      h("button", { class: "button small danger quiet", type: "button", on: { click: forget } }, "Forget it")));
}
