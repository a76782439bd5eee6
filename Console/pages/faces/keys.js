/**
 * The keys that a face's callers hold: made and shown once, or taken over, and revoked.
 */

import { fill, h } from "../../core/dom.js";
import { postOnce } from "../../core/idempotency.js";
import { confirm, openDialog } from "../../components/dialog.js";
import { field, showMistakes } from "../../components/field.js";
import { icon } from "../../components/icon.js";
import { code, name } from "../../components/name.js";
import { notice } from "../../components/notice.js";
import { section } from "../../components/page.js";
import { problem } from "../../components/problem.js";
import { showSecretsOnce } from "../../components/secret.js";
import { listing } from "../../components/table.js";
import { time } from "../../components/time.js";
import { toast } from "../../components/toast.js";
import { rightsForm, rightsInWords } from "./rights.js";

const TAKING_OVER_IS_THE_OPERATORS = "A secret that clients hold already is taken over by the operator: it might be another network’s. " +
  "Without one, a new secret is made.";
/** What a new key says beside what is shown once. */
const LISTED = new Set(["name", "label", "rights", "createdAt", "face"]);

/**
 * @param {object} page
 * @param {object} face of the catalogue
 */
export function keysSection(page, face) {
  const path = page.path("faces", face.id, "keys");
  const options = { signal: page.signal };
  const list = listing({
    caption: face.keys.title,
    noun: "key",
    rowKey: (key) => key.name,
    load: async ({ cursor }) => (await page.api.get(path, { ...options, query: { cursor } })).data,
    empty: { title: "No keys", picture: "keys", text: face.keys.note },
    columns: [
      { title: "Name", cell: (key) => [code(key.name, { longest: 80 }), key.label && h("div", { class: "muted small" }, name(key.label, { longest: 80 }))] },
      { title: "May", wide: true, cell: ({ rights }) => name(rightsInWords(rights), { fallback: "call this face", longest: 200 }) },
      { title: "Made", cell: (key) => time(key.createdAt) },
      { title: "Actions", hideTitle: true, cell: (key) =>
        h("button", { class: "button small quiet", type: "button", on: { click: () => revoke(key) } },
          "Revoke", h("span", { class: "visually-hidden" }, " key ", name(key.name, { longest: 60 }))) },
    ],
  });

  async function make() {
    const post = postOnce(page);
    const keyName = field({ label: "Name", name: "name", mono: true, maxlength: "256", hint: face.keys.nameHint ?? "Without one, a name is made." });
    const label = field({ label: "Label", name: "label", maxlength: "256", hint: "Where it is used, so that you know it when it has to go." });
    const rights = rightsForm(face.keys.rights);
    const secret = field({ label: "Secret that clients hold already", name: "secret", mono: true,
      hint: page.role === "operator" ? "Without one, a new secret is made and shown once." : "The operator’s to give. Without one, a new secret is made and shown once." });
    const trouble = h("div", { class: "form-trouble" });

    async function run() {
      fill(trouble);
      const body = { name: keyName.value.trim() || undefined, label: label.value.trim() || undefined, secret: secret.value || undefined, rights: rights.value() };
      try {
        return (await post(path, body)).data;
      } catch (error) {
        if (error.status === 403 && body.secret) {
          fill(trouble, notice("warn", TAKING_OVER_IS_THE_OPERATORS), problem(error, { compact: true }));
          return false;
        }
        if (showMistakes([keyName, label, secret], error)) return false;
        throw error;
      }
    }

    const made = await openDialog({
      title: `New key for ${face.title}`,
      body: h("form", { class: "form", novalidate: true }, keyName, label, rights.element, secret, trouble),
      actions: [{ label: "Cancel", kind: "quiet" }, { label: "Make the key", kind: "primary", run }],
    });
    if (!made) return;
    await showOnce(made);
    await list.reload();
  }

  async function showOnce(made) {
    const shown = Object.entries(made).filter(([member, value]) => !LISTED.has(member) && typeof value === "string");
    if (shown.length === 0) return;
    const address = face.keys.use?.(location.origin, made);
    await showSecretsOnce({
      title: "The new key",
      text: ["It is shown only now, under the name ", code(made.name), ": Carillon cannot show it again."],
      secrets: [
        ...shown.map(([member, value]) => ({ label: member === "secret" ? "Secret" : `${face.title} ${member}`, value })),
        ...(address ? [{ label: "Address with the key in it", value: address }] : []),
      ],
    });
  }

  async function revoke(key) {
    const agreed = await confirm({
      title: "Revoke this key?",
      text: [h("p", null, code(key.name, { longest: 120 }), " is refused at once here, and within two seconds everywhere. Tokens that were made with it end, too."),
        h("p", null, "This cannot be taken back.")],
      act: "Revoke",
      danger: true,
    });
    if (!agreed) return;
    try {
      await page.api.delete(page.path("faces", face.id, "keys", key.name), options);
    } catch (error) {
      if (page.signal.aborted) return;
      if (error.status !== 404) {
        await openDialog({ title: "It was not revoked", body: problem(error), actions: [{ label: "Close", kind: "primary" }] });
        return;
      }
    }
    list.setItems(list.items.filter((each) => each.name !== key.name));
    toast("The key is revoked.", { kind: "good" });
  }

  return section({ title: face.keys.title, note: face.keys.note, flush: true,
    actions: [h("button", { class: "button", type: "button", on: { click: make } }, icon("plus"), "New key")] }, list);
}
