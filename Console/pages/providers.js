/**
 * Providers: through what notifications leave, what holds them up, and with whose credentials they go.
 */

import { h } from "../core/dom.js";
import { pageView } from "../components/page.js";
import { credentialsSection } from "./providers/credentials.js";
import { lanesSection } from "./providers/lanes.js";
import { webPushSection } from "./providers/webpush.js";
import { webhookSection } from "./providers/webhook.js";

export const title = "Providers";
export const styles = ["providers", "drop"];

const REFRESH_MS = 5000;

export async function render(page) {
  const { data } = await page.api.get(page.path("providers"), { signal: page.signal });

  const refresh = () => polling.now();
  const push = webPushSection(page, { changed: refresh });
  const credentials = credentialsSection(page, { changed: refresh });
  const lanes = lanesSection(page, {
    replaceCredential: (lane) => credentials.replace(lane.provider, lane.appId),
    setSubject: push.edit,
    tryWebPush: push.retry,
    changed: refresh,
  });

  function show(items) {
    lanes.show(items);
    credentials.show(items);
  }
  show(data.items);
  const polling = page.live(async ({ signal }) => {
    const { data: fresh } = await page.api.get(page.path("providers"), { signal });
    show(fresh.items);
  }, REFRESH_MS);

  return pageView({ title, lead: "Through what notifications leave, what holds them up, and with whose credentials they go." },
    lanes.element, credentials.element, h("div", { class: "columns" }, push.element, webhookSection(page)));
}
