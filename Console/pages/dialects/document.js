/**
 * What a network says of one dialect, as the API shows it: the secrets in it are only counted.
 */

import { count } from "../../core/format.js";

/** What the service says of a document itself, and what is changed by fields of its own. */
const OWN = new Set(["dialect", "enabled", "secrets", "basic", "updatedAt", "unreadable", "warning"]);

/** What the network says of each dialect; null where it says nothing. */
export async function documentsOf(page) {
  const { data } = await page.api.get(page.path("dialects"), { signal: page.signal });
  return Object.fromEntries(data.items.map(({ dialect, document }) => [dialect, document]));
}

/** How a dialect's posts are read: the document without who may post. */
export function settingsOf(document) {
  return Object.fromEntries(Object.entries(document ?? {}).filter(([member]) => !OWN.has(member)));
}

/** `2 secrets, basic` */
export function proofInWords({ secrets = [], basic }) {
  return [secrets.length > 0 && count(secrets.length, "secret"), basic && "user and password"].filter(Boolean).join(", ") || "an API key only";
}
