/**
 * API keys: made, shown once, revoked.
 */

import { isAbort } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { postOnce } from "../../core/idempotency.js";
import { session } from "../../core/session.js";
import { badge } from "../../components/badge.js";
import { confirm, openDialog } from "../../components/dialog.js";
import { field, showMistakes } from "../../components/field.js";
import { icon } from "../../components/icon.js";
import { code, name } from "../../components/name.js";
import { section } from "../../components/page.js";
import { problem } from "../../components/problem.js";
import { showSecretsOnce } from "../../components/secret.js";
import { listing } from "../../components/table.js";
import { time } from "../../components/time.js";
import { toast } from "../../components/toast.js";

const ROLES = {
  admin: "everything of this network",
  events: "posts events: for the chat’s back end",
  notify: "sends direct notifications, and nothing else",
  device: "registers and unregisters devices: ships inside apps",
};

/** The id of the key that one is signed in with, or null for the operator: `ck_<id>_…`. */
function ownID() {
  return /^ck_([^_]+)_/.exec(session.current?.token ?? "")?.[1] ?? null;
}

/** @param {object} page */
export async function apiKeys(page) {
  const own = ownID();
  const options = { signal: page.signal };
  const list = listing({
    caption: "API keys",
    noun: "key",
    rowKey: (key) => key.id,
    load: async ({ cursor }) => (await page.api.get(page.path("api-keys"), { ...options, query: { cursor } })).data,
    empty: { title: "No API keys", picture: "keys", text: "Only the operator comes in. Make a key of role admin to sign in without the operator’s token." },
    columns: [
      { title: "Label", wide: true, cell: (key) => [name(key.label, { fallback: "no label", longest: 80 }), " ", key.id === own && badge("You are signed in with this", "info")] },
      { title: "Role", cell: (key) => badge(key.role, key.role === "admin" ? "warn" : "neutral") },
      { title: "Id", cell: (key) => code(key.id) },
      { title: "Made", cell: (key) => time(key.createdAt) },
      { title: "Actions", hideTitle: true, cell: (key) =>
        h("button", { class: "button small quiet", type: "button", on: { click: () => revoke(key) } },
          "Revoke", h("span", { class: "visually-hidden" }, " key ", name(key.label, { fallback: key.id, longest: 40 }))) },
    ],
  });

  async function make() {
    const role = field({ label: "Role", name: "role", type: "select", value: "events", options: Object.entries(ROLES).map(([value, words]) => ({ value, label: `${value}: ${words}` })) });
    const label = field({ label: "Label", name: "label", hint: "Where it is used, so that you know it when it has to go.", maxlength: "256" });
    const post = postOnce(page);
    const made = await openDialog({
      title: "New API key",
      body: h("form", { class: "form" }, role, label),
      actions: [
        { label: "Cancel", kind: "quiet" },
        { label: "Make the key", kind: "primary", run: async () => {
          try {
            const body = { role: role.value, label: label.value.trim() || null };
            return (await post(page.path("api-keys"), body)).data;
          } catch (error) {
            if (showMistakes([role, label], error)) return false;
            throw error;
          }
        } },
      ],
    });
    if (!made) return;
    const { apiKey, ...key } = made;
    await showSecretsOnce({
      title: "The new API key",
      text: "It is shown only now: Carillon keeps a hash of it and cannot show it again.",
      secrets: [{ label: `API key of role ${key.role}`, value: apiKey }],
    });
    list.setItems([...list.items, key]);
  }

  async function revoke(key) {
    const isOwn = key.id === own;
    const agreed = await confirm({
      title: "Revoke this key?",
      text: [
        h("p", null, "“", name(key.label, { fallback: key.id, longest: 80 }), `” of role ${key.role} is refused at once, wherever it is used. This cannot be taken back.`),
        isOwn && h("p", null, h("strong", null, "You are signed in with this very key: revoking it signs you out.")),
      ],
      act: isOwn ? "Revoke it and sign out" : "Revoke",
      danger: true,
    });
    if (agreed) await remove(key, false);
  }

  async function remove(key, isForced) {
    try {
      await page.api.delete(page.path("api-keys", key.id), { ...options, query: isForced ? { force: true } : {} });
    } catch (error) {
      if (isAbort(error)) return undefined;
      if (error.problem?.type === "/problems/last-admin-key") return keepLastAdmin(key);
      if (error.status !== 404) return openDialog({ title: "It was not revoked", body: problem(error), actions: [{ label: "Close", kind: "primary" }] });
    }
    if (key.id === own) return session.end({ title: "You have revoked the key that you were signed in with." });
    list.setItems(list.items.filter((each) => each.id !== key.id));
    toast("The key is revoked.", { kind: "good" });
    return undefined;
  }

  /** Nobody locks a network by accident: its id has to be typed. */
  async function keepLastAdmin(key) {
    const typed = field({ label: ["Type the network’s id, ", code(page.network), ", to revoke it all the same"], name: "network" });
    const agreed = await openDialog({
      title: "This is the last admin key",
      body: [
        h("p", null, "Without it nobody but the operator can change anything of this network, nor make another key. It stays, unless " +
          "you say that you mean it."),
        h("form", { class: "form" }, typed),
      ],
      actions: [
        { label: "Keep it", kind: "primary", value: false },
        { label: "Revoke the last admin key", kind: "danger", run: () => {
          if (typed.value === page.network) return true;
          typed.setError("That is not the network’s id.");
          typed.input.focus();
          return false;
        } },
      ],
    });
    if (agreed === true) await remove(key, true);
  }

  return section(
    { title: "API keys", note: "Sent as a Bearer by back ends, apps and admins.", flush: true,
      actions: [h("button", { class: "button primary", type: "button", on: { click: make } }, icon("plus"), "New API key")] },
    list,
  );
}
