/**
 * All networks, for the operator; and making one.
 */

import { h } from "../core/dom.js";
import { once } from "../core/idempotency.js";
import { addressOf } from "../core/router.js";
import { openDialog } from "../components/dialog.js";
import { field, showMistakes } from "../components/field.js";
import { icon } from "../components/icon.js";
import { code, name } from "../components/name.js";
import { pageView, section } from "../components/page.js";
import { showSecretsOnce } from "../components/secret.js";
import { listing } from "../components/table.js";
import { time } from "../components/time.js";

export const title = "Networks";

const PATH = "/v1/networks";

export function render(page) {
  const make = () => makeNetwork(page);
  const button = () => h("button", { class: "button primary", type: "button", on: { click: make } }, icon("plus"), "Make a network");
  const list = listing({
    caption: "Networks",
    noun: "network",
    columns: [
      { title: "Name", wide: true, cell: (row) => name(row.displayName, { fallback: "No name", longest: 80 }) },
      { title: "Id", cell: (row) => code(row.id, { longest: 80 }) },
      { title: "Language", cell: (row) => row.defaultLocale },
      { title: "Made", cell: (row) => time(row.createdAt) },
    ],
    rowKey: (row) => row.id,
    rowHref: (row) => addressOf(row.id, "overview"),
    load: async ({ cursor }) => (await page.api.get(PATH, { query: { cursor, limit: 100 }, signal: page.signal })).data,
    empty: { title: "No network yet", text: "A network is one community: its users, channels, keys and switches.", action: button() },
  });
  return pageView({ title: "Networks", lead: "Each is a community of its own, with its users, channels, keys and switches.", actions: [button()] },
    section({ flush: true }, list));
}

async function makeNetwork(page) {
  const fields = [
    field({ label: "Id", name: "id", required: true, mono: true, autocapitalize: "off", placeholder: "acme",
      hint: "Stands in every address of the API and cannot be changed." }),
    field({ label: "Name", name: "displayName", placeholder: "Acme" }),
    field({ label: "Language", name: "defaultLocale", placeholder: "en", mono: true,
      hint: "Of those who have not said theirs. A tag such as en, th or pt-BR." }),
  ];
  const [id, displayName, defaultLocale] = fields;
  const attempt = once();

  async function post() {
    if (!id.value) {
      id.setError("This is needed.");
      id.input.focus();
      return false;
    }
    const body = { id: id.value, displayName: displayName.value || undefined, defaultLocale: defaultLocale.value.trim() || undefined };
    try {
      return (await attempt((headers) => page.api.post(PATH, body, { headers, signal: page.signal }))).data;
    } catch (error) {
      if (showMistakes(fields, error)) return false;
      throw error;
    }
  }

  const made = await openDialog({
    title: "Make a network",
    body: h("form", { class: "fields", novalidate: true }, fields),
    actions: [{ label: "Cancel", kind: "quiet" }, { label: "Make it", kind: "primary", run: post }],
  });
  if (!made) return;
  await showSecretsOnce({
    title: h("span", null, name(made.network.displayName ?? made.network.id), " is there"),
    text: "Three secrets belong to it. They are shown only now: Carillon cannot show them again, but new ones can be made under Keys.",
    secrets: [
      { label: "Admin key", value: made.apiKey, hint: "May do everything in this network. Signs in here, too." },
      { label: "Webhook secret", value: made.webhookSecret, hint: "The chat backend signs the events that it posts with it." },
      { label: "User token secret", value: made.userTokenSecret, hint: "Your backend signs users’ tokens (HS256) with it." },
    ],
  });
  await page.navigate(addressOf(made.network.id, "overview"));
}
