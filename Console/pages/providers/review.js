/**
 * Shows what files identify before they are saved, and asks for what they do not hold.
 */

import { now } from "../../core/connection.js";
import { h, fill } from "../../core/dom.js";
import { absoluteTime, providerName } from "../../core/format.js";
import { badge } from "../../components/badge.js";
import { openDialog } from "../../components/dialog.js";
import { field, showMistakes } from "../../components/field.js";
import { icon } from "../../components/icon.js";
import { name } from "../../components/name.js";
import { facts } from "../../components/page.js";
import { identify, readFiles } from "./credential-file.js";

const PASTED = "pasted text";

/**
 * Opens the dialog.
 * @param {object} page
 * @param {Array<{name: string, bytes: Uint8Array}>} first the files that were dropped; none to paste or choose them here
 * @param {{provider?: string, appId?: string, pathOf: (provider: string, appId: string) => string}} options `appId` is the
 *   app whose credential is replaced
 * @returns {Promise<object|undefined>} the credential as it was saved
 */
export function openReview(page, first, { provider: wanted, appId, pathOf }) {
  let files = [...first];
  let identified = null;
  let save = null;
  const place = h("div", { class: "review" });
  const app = field({ label: "App id", name: "appId", value: appId ?? "", required: true, mono: true, readonly: Boolean(appId) });
  const team = field({ label: "Team id", name: "teamId", required: true, mono: true, maxlength: "32",
    hint: "Ten letters and digits, in Apple’s developer account under Membership." });
  const key = field({ label: "Key id", name: "keyId", required: true, mono: true, maxlength: "32",
    hint: "Ten letters and digits; Apple puts them into the file’s name." });
  const passphrase = field({ label: "Passphrase", name: "passphrase", type: "password", autocomplete: "off" });
  const pasted = field({ label: "Or paste it", type: "textarea", rows: 5, mono: true,
    placeholder: "-----BEGIN PRIVATE KEY-----", onInput: (text) => {
      if (/-----END [A-Z0-9 ]+-----\s*$|\}\s*$/.test(text)) take([{ name: PASTED, bytes: new TextEncoder().encode(text) }]);
    } });

  function wantedFields() {
    app.querySelector(".field-hint").textContent = identified?.provider === "fcm"
      ? "The package name under which the app registers its devices, such as com.acme.chat."
      : "The bundle id under which the app registers its devices, such as com.acme.chat.";
    if (!identified?.kind) return [];
    return [app, ...({ key: [team, key], pkcs12: [passphrase] }[identified.kind] ?? [])];
  }

  function take(more) {
    files = [...files.filter((file) => !more.some((other) => other.name === file.name)), ...more];
    examine();
  }

  function again() {
    files = [];
    pasted.value = "";
    examine();
  }

  function examine() {
    identified = files.length > 0 ? identify(files, now()) : null;
    if (identified?.kind && wanted && identified.provider !== wanted) {
      identified.problems.push(`This is for ${providerName(identified.provider)}, and the app’s credential is one of ${providerName(wanted)}.`);
    }
    const { suggestions = {} } = identified ?? {};
    if (suggestions.appId && !app.value) app.value = suggestions.appId;
    if (suggestions.keyId && !key.value) key.value = suggestions.keyId;
    if (appId && suggestions.appId && identified.kind === "certificate" && suggestions.appId !== appId) {
      identified.warnings.push(`It names ${suggestions.appId}, not ${appId}.`);
    }
    show();
  }

  function show() {
    const input = h("input", { class: "visually-hidden", type: "file", multiple: true, tabindex: "-1", "aria-hidden": "true",
      on: { change: async () => take(await readFiles(input.files)) } });
    const choose = h("button", { class: "button small", type: "button", on: { click: () => input.click() } },
      icon("upload"), identified ? "Add a file…" : "Choose files…");
    if (save) save.disabled = !identified || identified.problems.length > 0;
    if (!identified) return fill(place, h("p", null, "A .p8 key, a .p12 or .pem certificate with its key, or a service account’s .json."),
      choose, input, pasted);
    fill(place,
      h("div", { class: "review-head" }, h("strong", null, identified.title),
        h("span", { class: "muted small" }, name(files.map((file) => file.name).join(", ")))),
      identified.facts.length > 0 && facts(identified.facts.map(([term, value]) =>
        [term, value instanceof Date ? absoluteTime(value) : name(value)])),
      remarks(identified.problems, "bad", "Cannot be saved"),
      remarks(identified.warnings, "warn", "Note"),
      wantedFields(),
      h("div", { class: "form-buttons" }, choose,
        h("button", { class: "button small quiet", type: "button", on: { click: again } }, "Start again"), input));
  }

  async function put() {
    const fields = wantedFields();
    const missing = fields.filter((each) => each.input.required && !each.value.trim());
    for (const each of missing) each.setError("This is needed.");
    missing[0]?.input.focus();
    if (missing.length > 0 || !identified?.kind) return false;
    const body = { ...identified.body };
    if (identified.kind === "key") Object.assign(body, { teamId: team.value.trim(), keyId: key.value.trim() });
    if (identified.kind === "pkcs12" && passphrase.value) body.passphrase = passphrase.value;
    try {
      const { data } = await page.api.put(pathOf(identified.provider, app.value.trim()), body);
      return data;
    } catch (error) {
      if (showMistakes(fields, error)) return false;
      throw error;
    }
  }

  examine();
  return openDialog({
    title: appId ? h("span", null, "Replace the credential of ", name(appId)) : "Add a credential",
    body: h("div", { class: "form" }, place),
    wide: true,
    actions: [{ label: "Cancel", kind: "quiet" }, { label: "Save", kind: "primary", run: put }],
    onOpen: (_, buttons) => {
      save = buttons.at(-1);
      show();
    },
  });
}

function remarks(texts, kind, word) {
  return texts.length > 0 && h("ul", { class: "remarks" },
    texts.map((text) => h("li", null, badge(word, kind), " ", name(text, { longest: 400 }))));
}
