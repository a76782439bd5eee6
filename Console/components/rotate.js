/**
 * A secret is changed while the former one goes on for a while, and the new one is shown once.
 */

import { h } from "../core/dom.js";
import { postOnce } from "../core/idempotency.js";
import { openDialog } from "./dialog.js";
import { field } from "./field.js";
import { showSecretsOnce } from "./secret.js";

/** How long a former secret may go on, in seconds and in words. */
const OVERLAPS = [
  { value: "3600", label: "for an hour" },
  { value: "86400", label: "for a day" },
  { value: "604800", label: "for a week" },
  { value: "0", label: "not at all: it has leaked" },
];

/**
 * Asks for how long the former secret goes on, then has a new one made and shows it once.
 * @param {object} page
 * @param {{title: string, words: string, path: string, read: (data: object) => string, label: string}} what
 */
export async function rotate(page, { title, words, path, read, label }) {
  const overlap = field({ label: "The former secret goes on", name: "overlapSeconds", type: "select", options: OVERLAPS, value: "86400" });
  const post = postOnce(page);
  const made = await openDialog({
    title,
    body: [h("p", null, words), h("form", { class: "form" }, overlap)],
    actions: [
      { label: "Cancel", kind: "quiet" },
      { label: "Make a new secret", kind: "primary",
        run: async () => (await post(path, { overlapSeconds: Number(overlap.value) })).data },
    ],
  });
  if (!made) return;
  await showSecretsOnce({
    title: "The new secret",
    text: "It is shown only now: Carillon keeps it sealed and cannot show it again.",
    secrets: [{ label, value: read(made) }],
  });
}
