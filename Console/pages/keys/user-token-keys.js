/**
 * The keys that users' tokens are verified with: up to five at once, so that one can be changed while tokens are out.
 */

import { isAbort } from "../../core/api.js";
import { fill, h } from "../../core/dom.js";
import { postOnce } from "../../core/idempotency.js";
import { badge } from "../../components/badge.js";
import { confirm, openDialog } from "../../components/dialog.js";
import { field, showMistakes } from "../../components/field.js";
import { icon } from "../../components/icon.js";
import { code } from "../../components/name.js";
import { section } from "../../components/page.js";
import { problem } from "../../components/problem.js";
import { showSecretsOnce } from "../../components/secret.js";
import { listing } from "../../components/table.js";
import { toast } from "../../components/toast.js";

const KINDS = [
  { value: "made", label: "HS256, with a secret that is made now" },
  { value: "HS256", label: "HS256, with a secret of your own" },
  { value: "ES256", label: "ES256, with a public key" },
  { value: "RS256", label: "RS256, with a public key" },
];

const LIFETIMES = [
  { value: "900", label: "15 minutes" },
  { value: "3600", label: "an hour" },
  { value: "86400", label: "a day" },
];

/** @param {object} page */
export function userTokenKeys(page) {
  const options = { signal: page.signal };
  const list = listing({
    caption: "Keys of user tokens",
    noun: "key",
    rowKey: (key) => key.id,
    load: async () => (await page.api.get(page.path("user-token-keys"), options)).data,
    empty: { title: "No keys", picture: "lock", text: "No user token is accepted. Users cannot reach their own switches and devices." },
    columns: [
      { title: "Algorithm", cell: (key) => badge(key.algorithm) },
      { title: "Key", wide: true, cell: (key) => key.publicKey
        ? h("details", null, h("summary", null, "Public key"), h("pre", { class: "code" }, key.publicKey))
        : h("span", { class: "muted" }, "a shared secret, not shown") },
      { title: "Id", cell: (key) => code(key.id) },
      { title: "Actions", hideTitle: true, cell: (key) =>
        h("button", { class: "button small quiet", type: "button", on: { click: () => remove(key) } },
          "Remove", h("span", { class: "visually-hidden" }, ` key ${key.id}`)) },
    ],
  });

  async function add() {
    const place = h("div");
    let material = null;
    const kind = field({ label: "Kind", name: "kind", type: "select", options: KINDS, value: "made", pointer: "/algorithm", onInput: show });
    function show() {
      const isPublic = kind.value.endsWith("S256") && kind.value !== "HS256";
      if (kind.value === "made") material = null;
      else if (isPublic) material = field({ label: "Public key, in PEM", name: "publicKey", type: "textarea", rows: 6, mono: true, placeholder: "-----BEGIN PUBLIC KEY-----" });
      else material = field({ label: "Secret", name: "secret", type: "textarea", rows: 2, mono: true, hint: "32 to 1,024 bytes." });
      fill(place, material);
    }
    show();
    const post = postOnce(page);
    const made = await openDialog({
      title: "New key for user tokens",
      body: h("form", { class: "form" }, kind, place),
      actions: [
        { label: "Cancel", kind: "quiet" },
        { label: "Add the key", kind: "primary", run: async () => {
          const body = { algorithm: kind.value === "made" ? "HS256" : kind.value };
          if (material) body[material.input.name] = material.input.name === "secret" ? material.value : `${material.value.trim()}\n`;
          try {
            return (await post(page.path("user-token-keys"), body)).data;
          } catch (error) {
            if (showMistakes([kind, material].filter(Boolean), error)) return false;
            throw error;
          }
        } },
      ],
    });
    if (!made) return;
    const { secret, ...key } = made;
    if (secret) {
      await showSecretsOnce({
        title: "The new secret for user tokens",
        text: "It is shown only now: Carillon keeps it sealed and cannot show it again.",
        secrets: [{ label: "User token secret", value: secret }],
      });
    }
    list.setItems([...list.items, key]);
  }

  async function remove(key) {
    const isLast = list.items.length === 1;
    const agreed = await confirm({
      title: "Remove this key?",
      text: [
        h("p", null, `Tokens that are signed with this ${key.algorithm} key are refused at once.`),
        isLast && h("p", null, h("strong", null, "It is the only one: no user will be able to sign in until there is another.")),
      ],
      act: "Remove",
      danger: true,
    });
    if (!agreed) return;
    try {
      await page.api.delete(page.path("user-token-keys", key.id), options);
    } catch (error) {
      if (isAbort(error)) return;
      if (error.status !== 404) {
        await openDialog({ title: "It was not removed", body: problem(error), actions: [{ label: "Close", kind: "primary" }] });
        return;
      }
    }
    list.setItems(list.items.filter((each) => each.id !== key.id));
    toast("The key is removed.", { kind: "good" });
  }

  async function makeToken() {
    const user = field({ label: "User", name: "userId", required: true, pointer: "/userId", hint: "The user’s id, as in your events." });
    const lifetime = field({ label: "It lives", name: "lifetimeSeconds", type: "select", options: LIFETIMES, value: "3600", pointer: "/lifetimeSeconds" });
    const made = await openDialog({
      title: "A token to try things with",
      body: h("form", { class: "form" }, user, lifetime),
      actions: [
        { label: "Cancel", kind: "quiet" },
        { label: "Make the token", kind: "primary", run: async () => {
          const body = { userId: user.value, lifetimeSeconds: Number(lifetime.value) };
          try {
            return (await page.api.post(page.path("user-tokens"), body, options)).data;
          } catch (error) {
            if (showMistakes([user, lifetime], error)) return false;
            throw error;
          }
        } },
      ],
    });
    if (!made) return;
    await showSecretsOnce({
      title: `A token of ${made.userId}`,
      text: "Whoever has it is this user until it ends. Your back end makes those of your apps.",
      secrets: [{ label: "User token", value: made.token }],
    });
  }

  return section(
    { title: "User tokens", note: "Verify the tokens that your back end signs for its users. At most five at once.", flush: true,
      actions: [
        h("button", { class: "button quiet", type: "button", on: { click: makeToken } }, "Make a token"),
        h("button", { class: "button", type: "button", on: { click: add } }, icon("plus"), "Add a key"),
      ] },
    list,
  );
}
