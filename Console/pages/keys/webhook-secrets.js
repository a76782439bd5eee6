/**
 * The secret that a chat's back end signs its events with.
 */

import { h } from "../../core/dom.js";
import { icon } from "../../components/icon.js";
import { section } from "../../components/page.js";
import { rotate } from "../../components/rotate.js";

/** @param {object} page */
export function webhookSecrets(page) {
  const run = () => rotate(page, {
    title: "New webhook secret",
    words: "While both are valid, change your back end at any time. Six are valid at once at the most.",
    path: page.path("webhook-secrets", "rotate"),
    read: (data) => data.webhookSecret,
    label: "Webhook secret",
  });
  return section(
    { title: "Webhook secret", note: "Signs the events that a chat’s back end posts (Standard Webhooks).",
      actions: [h("button", { class: "button", type: "button", on: { click: run } }, icon("refresh"), "Rotate")] },
    h("p", { class: "muted" }, "Nobody can see the present one again. A new one can overlap with it for up to a week."),
  );
}
