/**
 * Keys: what lets others in, and how it is changed without anybody being locked out.
 */

import { h } from "../core/dom.js";
import { titleOf } from "../core/pages.js";
import { pageView } from "../components/page.js";
import { apiKeys } from "./keys/api-keys.js";
import { userTokenKeys } from "./keys/user-token-keys.js";
import { webhookSecrets } from "./keys/webhook-secrets.js";

export const title = "Keys";
export const styles = ["code"];

/** @param {object} page */
export async function render(page) {
  return pageView(
    { title, lead: ["Who may do what here. Keys and secrets are shown once, when they are made. Those of apps that were made for other systems are under ",
      h("a", { href: page.href("faces") }, titleOf("faces")), "."] },
    await apiKeys(page),
    await webhookSecrets(page),
    await userTokenKeys(page),
  );
}
