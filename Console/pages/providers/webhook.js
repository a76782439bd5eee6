/**
 * Webhook devices: the secret that what is posted to them is signed with.
 */

import { h } from "../../core/dom.js";
import { confirm } from "../../components/dialog.js";
import { section } from "../../components/page.js";
import { problem } from "../../components/problem.js";
import { rotate } from "../../components/rotate.js";
import { toast } from "../../components/toast.js";

/** @param {object} page */
export function webhookSection(page) {
  const change = () => rotate(page, {
    title: "A new secret for webhooks",
    words: "Receivers verify with the secret that what they get comes from this network. While both are valid, each message has both signatures.",
    path: page.path("providers", "webhook", "secret"),
    read: (data) => data.secret,
    label: "Webhook secret",
  });

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
      h("button", { class: "button small", type: "button", on: { click: change } }, "Make a new secret"),
      h("button", { class: "button small danger quiet", type: "button", on: { click: forget } }, "Forget it")));
}
