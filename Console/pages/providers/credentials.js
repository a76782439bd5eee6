/**
 * The credentials of apps: what identifies each of them, and a place to drop new ones.
 */

import { h, fill } from "../../core/dom.js";
import { isAbort } from "../../core/api.js";
import { now } from "../../core/connection.js";
import { absoluteTime, lacksCredential, providerName } from "../../core/format.js";
import { badge } from "../../components/badge.js";
import { confirm } from "../../components/dialog.js";
import { dropZone } from "../../components/drop-zone.js";
import { empty } from "../../components/empty.js";
import { code, name } from "../../components/name.js";
import { section } from "../../components/page.js";
import { problem } from "../../components/problem.js";
import { table } from "../../components/table.js";
import { time } from "../../components/time.js";
import { toast } from "../../components/toast.js";
import { readFiles } from "./credential-file.js";
import { openReview } from "./review.js";

const SOON_MS = 30 * 86_400_000;
const PROVIDERS = ["apns", "fcm"];

const keyOf = ({ provider, appId }) => JSON.stringify([provider, appId]);

/**
 * @param {object} page
 * @param {{changed: () => void}} options
 */
export function credentialsSection(page, { changed }) {
  /** By provider and app: what `GET` answered, or null where there is no credential. */
  const known = new Map();
  const asked = new Set();
  const place = h("div");
  const trouble = h("div");
  const pathOf = (provider, appId) => page.path("providers", provider, "apps", appId);
  const rows = table({
    caption: "Credentials of apps",
    rowKey: keyOf,
    columns: [
      { title: "App", cell: ({ appId }) => name(appId) },
      { title: "Provider", cell: ({ provider }) => h("span", { class: "provider-name" }, providerName(provider)) },
      { title: "What identifies it", wide: true, cell: identity },
      { title: "Changed", cell: ({ updatedAt }) => time(updatedAt) },
      { title: "Change", hideTitle: true, cell: (credential) => h("div", { class: "row-actions" },
        h("button", { class: "button small", type: "button", on: { click: () => replace(credential.provider, credential.appId) } },
          "Replace"),
        h("button", { class: "button small danger quiet", type: "button", on: { click: () => remove(credential) } }, "Remove",
          h("span", { class: "visually-hidden" }, ` the credential of ${credential.appId}`))) },
    ],
  });

  function show() {
    const all = [...known.values()].filter(Boolean).sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
    rows.setRows(all);
    if (all.length === 0) {
      fill(place, empty({ title: "No app has a credential yet", picture: "keys",
        text: "What is for iPhones and Android phones waits until there is one, for 24 hours." }));
    } else if (rows.parentNode !== place) {
      fill(place, rows);
    }
  }

  async function look(lane) {
    try {
      const { data } = await page.api.get(pathOf(lane.provider, lane.appId), { signal: page.signal });
      known.set(keyOf(lane), data);
    } catch (error) {
      if (isAbort(error)) return;
      if (error.status !== 404) {
        asked.delete(keyOf(lane));
        return fill(trouble, problem(error, { compact: true }));
      }
      known.set(keyOf(lane), null);
    }
    fill(trouble);
    show();
  }

  /** Looks up the credentials of lanes that were not there before. A lane that waits for its credential has none. */
  function learn(lanes) {
    for (const lane of lanes) {
      if (!PROVIDERS.includes(lane.provider) || !lane.appId || asked.has(keyOf(lane))) continue;
      if (lacksCredential(lane.reason)) continue;
      asked.add(keyOf(lane));
      look(lane);
    }
    if (known.size === 0) show();
  }

  async function add(files, given = {}) {
    const saved = await openReview(page, files, { ...given, pathOf });
    if (!saved) return;
    asked.add(keyOf(saved));
    known.set(keyOf(saved), saved);
    show();
    changed();
    toast(`The credential of ${saved.appId} is saved. What waits for it is sent now.`, { kind: "good" });
  }

  function replace(provider, appId) {
    return add([], { provider, appId });
  }

  async function remove(credential) {
    const isSure = await confirm({
      title: "Remove this credential?",
      text: h("div", { class: "stack" },
        h("p", null, "Nothing is sent any more to the devices of ", code(credential.appId), " through ", providerName(credential.provider),
          "."),
        h("p", null, "What is for them waits until there is a credential again, for 24 hours at the most, and then expires. No device is removed."),
        h("p", null, "Carillon cannot show what it removes: keep the file if it may be needed again.")),
      act: "Remove",
      danger: true,
    });
    if (!isSure) return;
    try {
      await page.api.delete(pathOf(credential.provider, credential.appId));
      known.set(keyOf(credential), null);
      show();
      changed();
      toast(`The credential of ${credential.appId} is removed.`, { kind: "good" });
    } catch (error) {
      toast(problem(error, { compact: true }), { kind: "bad", seconds: 15 });
    }
  }

  const element = section({ title: "Credentials", note: "One for each app. They are stored encrypted and never shown again.", flush: true },
    place, trouble, h("div", { class: "drop-place" }, dropZone(page, {
      title: "Drop a credential here", multiple: true, accept: ".p8,.p12,.pfx,.pem,.cer,.key,.crt,.json",
      text: "A .p8 key, a .p12 or .pem certificate with its key, or a service account’s .json. It is looked at in this browser first.",
      onFiles: async (files) => add(await readFiles(files)),
      others: [h("button", { class: "button small", type: "button", on: { click: () => add([]) } }, "Paste…")],
    })));
  return { element, replace, show: learn };
}

function identity(credential) {
  if (credential.provider === "fcm") {
    return pairs([["Project", credential.projectId], ["Address", credential.clientEmail]]);
  }
  if (credential.keyId) return pairs([["Team", credential.teamId], ["Key", credential.keyId]]);
  const end = Date.parse(credential.notAfter);
  const ending = end <= now() ? badge("Expired", "bad") : end - now() < SOON_MS ? badge("Ends soon", "warn") : null;
  return pairs([
    ["Subject", credential.subject],
    ["For", credential.topics.join(", ")],
    ["Valid until", h("span", null, absoluteTime(credential.notAfter), " ", ending)],
    ["SHA-256", code(`${credential.fingerprint.slice(0, 16)}…`)],
  ]);
}

function pairs(all) {
  return h("div", { class: "identity" }, all.map(([term, value]) =>
    h("span", null, h("span", { class: "muted" }, `${term} `), value instanceof Node ? value : name(value))));
}
