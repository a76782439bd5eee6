/**
 * Takes devices back into use that were unregistered or quarantined by mistake.
 */

import { now } from "../../core/connection.js";
import { h, fill } from "../../core/dom.js";
import { count, localTime, providerName } from "../../core/format.js";
import { openDialog } from "../../components/dialog.js";
import { field, showMistakes } from "../../components/field.js";
import { toast } from "../../components/toast.js";

const HOUR_MS = 3_600_000;
const PROVIDERS = ["apns", "fcm", "webpush", "webhook"];

/**
 * @param {object} page
 * @param {{provider: string, appId: string|null, host: string|null, brake: object|null}} [lane] what it is asked about
 */
export function openRestore(page, lane) {
  const begin = lane?.brake?.since ? Date.parse(lane.brake.since) - HOUR_MS : now() - HOUR_MS;
  const target = field({ label: "App id", name: "appId", value: lane?.appId ?? lane?.host ?? "", mono: true,
    hint: "Left empty: all of the provider’s devices." });
  const provider = field({ label: "Provider", name: "provider", type: "select", value: lane?.provider ?? "apns",
    options: PROVIDERS.map((each) => ({ value: each, label: providerName(each) })), onInput: follow });
  const from = field({ label: "Put out of use from", name: "from", type: "datetime-local", value: localTime(begin).slice(0, 16), required: true });
  const to = field({ label: "Until before", name: "to", type: "datetime-local", hint: "Left empty: until now." });
  const isOfApp = () => ["apns", "fcm"].includes(provider.value);

  function follow() {
    fill(target.querySelector("label"), isOfApp() ? "App id" : "Host");
    target.pointer = isOfApp() ? "/appId" : "/host";
  }
  follow();

  return openDialog({
    title: "Restore devices",
    body: h("div", { class: "form" },
      h("p", null, "Takes back into use what was unregistered or quarantined in a stretch of time. Unregistered devices are kept for 30 days. ",
        "What is really gone is unregistered again by the next notification."),
      provider, target, h("div", { class: "fields-row" }, from, to)),
    actions: [
      { label: "Cancel", kind: "quiet" },
      { label: "Restore", kind: "primary", run: async () => {
        if (!from.value) {
          from.setError("This is needed.");
          return false;
        }
        const body = { provider: provider.value, from: new Date(from.value).toISOString() };
        if (to.value) body.to = new Date(to.value).toISOString();
        if (target.value) body[isOfApp() ? "appId" : "host"] = target.value;
        try {
          const { data } = await page.api.post(page.path("devices", "restore"), body);
          toast(`${count(data.restored, "device")} ${data.restored === 1 ? "is" : "are"} used again.`, { kind: "good" });
          return true;
        } catch (error) {
          if (showMistakes([provider, target, from, to], error)) return false;
          throw error;
        }
      } },
    ],
  });
}
