/**
 * `<c-secret>`: something that is shown once, to be copied now.
 */

import { h } from "../core/dom.js";
import { copyButton } from "./copy.js";
import { openDialog } from "./dialog.js";

/**
 * @param {{label: string, value: string, hint?: string}} what
 */
export function secret({ label, value, hint }) {
  return h("c-secret", { class: "secret" },
    h("div", { class: "secret-label" }, label),
    h("div", { class: "secret-row" }, h("code", { class: "secret-value" }, value), copyButton(value, label, { wide: true })),
    hint && h("p", { class: "field-hint" }, hint));
}

/**
 * Shows secrets that nobody can see again, until the person says that they are stored.
 * @param {{title: string, text?: string|Node, secrets: Array<{label: string, value: string, hint?: string}>}} what
 */
export function showSecretsOnce({ title, text, secrets }) {
  return openDialog({
    title,
    dismissable: false,
    wide: true,
    body: [
      h("p", null, text ?? "They are shown only now: Carillon keeps them hashed or sealed and cannot show them again."),
      secrets.map(secret),
    ],
    actions: [{ label: `I have stored ${secrets.length === 1 ? "it" : "them"}`, kind: "primary", value: true }],
    onOpen: (element) => {
      const guard = (event) => event.preventDefault();
      window.addEventListener("beforeunload", guard);
      element.addEventListener("close", () => window.removeEventListener("beforeunload", guard), { once: true });
      element.querySelector("c-copy button")?.focus();
    },
  });
}
