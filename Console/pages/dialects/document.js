/**
 * What a network says of one dialect, as the API shows it: the secrets in it are only counted.
 */

import { count } from "../../core/format.js";

/** What the service says of a document itself, and what is changed by fields of its own. */
const OWN = new Set(["dialect", "enabled", "secrets", "basic", "updatedAt", "unreadable"]);

/** A dialect's document; null where there is none. */
export async function documentOf(page, id) {
  try {
    return (await page.api.get(page.path("dialects", id), { signal: page.signal })).data;
  } catch (error) {
    if (error.status === 404) return null;
    throw error;
  }
}

/** How a dialect's posts are read: the document without who may post. */
export function settingsOf(document) {
  return Object.fromEntries(Object.entries(document ?? {}).filter(([member]) => !OWN.has(member)));
}

/** `2 secrets, basic` */
export function proofInWords({ secrets = [], basic }) {
  return [secrets.length > 0 && count(secrets.length, "secret"), basic && "user and password"].filter(Boolean).join(", ") || "an API key only";
}
