/**
 * All networks, for the operator, those with something wrong first; and making one.
 */

import { fill, h } from "../core/dom.js";
import { count, duration, number } from "../core/format.js";
import { postOnce } from "../core/idempotency.js";
import { addressOf } from "../core/router.js";
import { stateBadge } from "../components/badge.js";
import { openDialog } from "../components/dialog.js";
import { field, showMistakes } from "../components/field.js";
import { inAddress } from "../components/filters.js";
import { icon } from "../components/icon.js";
import { code, name } from "../components/name.js";
import { pageView, section } from "../components/page.js";
import { showSecretsOnce } from "../components/secret.js";
import { listing } from "../components/table.js";
import { offerPlacements, placesOf, showMissing } from "./networks/placements.js";

export const title = "Networks";

const PATH = "/v1/networks";
const OVERVIEW = "/v1/overview";
const TYPING_MS = 250;
// Names are looked for among those that are read: a page of all but the largest services.
const PAGE_SIZE = 1000;
const MOST_REASONS = 3;
const STATES = [["", "Any state"], ["failing", "Something is wrong"], ["working", "Working"], ["idle", "No event for a day"], ["new", "New"]];
const KINDS = { queue: "Work waits", lane: "Paused", credential: "Credential", senders: "Posts refused", source: "Source", endpoint: "Endpoint",
  brake: "Not believed", deadLetters: "Given up" };

export async function render(page) {
  const places = await placesOf(page);
  const make = () => makeNetwork(page);
  const missing = h("div", { role: "status", hidden: true });
  const button = () => h("button", { class: "button primary", type: "button", on: { click: make } }, icon("plus"), "Make a network");
  const list = listing({
    caption: "Networks, those with something wrong first",
    noun: "network",
    columns: [
      { title: "Name", wide: true, cell: (row) => name(row.displayName, { fallback: "No name", longest: 80 }) },
      { title: "Id", cell: (row) => code(row.network, { longest: 80 }) },
      places && { title: "Placement", cell: ({ placement }) => code(placement) },
      { title: "State", wide: true, cell: (row) => [stateBadge(row.state), ...reasons(row)] },
      { title: "Events of the last hour", numeric: true, cell: (row) => number(row.events.lastHour) },
      { title: "Oldest that waits", cell: (row) => (row.oldestSeconds > 0 ? duration(row.oldestSeconds * 1000) : h("span", { class: "muted" }, "nothing")) },
    ].filter(Boolean),
    rowKey: (row) => row.network,
    rowHref: (row) => addressOf(row.network, "overview"),
    load: async ({ cursor }) => {
      const isOfTrouble = page.query.state === "failing";
      const { data } = await page.api.get(OVERVIEW, { query: { cursor, limit: PAGE_SIZE, all: isOfTrouble ? undefined : "true" }, signal: page.signal });
      showMissing(missing, data.incomplete);
      learnPlaces(data.items);
      return { ...data, items: placed(data.items.filter((row) => matches(row, page.query))) };
    },
    empty: () => (!missing.hidden ? { title: "No network is found", text: "Those of placements that cannot be used now are missing.", picture: "search" }
      : page.query.state || page.query.find ? { title: "No network matches", text: "Try another name or state.", picture: "search" }
      : { title: "No network yet", text: "A network is one community: its users, channels, keys and switches.", action: button() }),
  });

  function placed(rows) {
    return places ? rows.map((row) => ({ ...row, placement: places.of(row.network) })) : rows;
  }

  /** The list does not wait for it. */
  async function learnPlaces(rows) {
    try {
      if (await places?.learn(rows)) list.setItems(placed(list.items));
    } catch {
      // The next look at the list asks again.
    }
  }

  return pageView({ title: "Networks", lead: "Each is a community of its own, with its users, channels, keys and switches.", actions: [button()] },
    filters(page, list.reload), missing, section({ flush: true }, list));
}

/** What is wrong with a network, in a few words each. */
function reasons({ reasons: all }) {
  const shown = all.slice(0, MOST_REASONS).map((reason) => h("div", { class: "small" }, KINDS[reason.kind] ?? reason.kind, ": ",
    name(reason.name, { longest: 60 }), " ", h("span", { class: "muted" }, name(reason.detail, { longest: 120 }))));
  const rest = all.length - shown.length;
  return rest > 0 ? [...shown, h("div", { class: "muted small" }, `and ${count(rest, "more reason")}`)] : shown;
}

/** Whether a row is what the address asks for. */
function matches(row, { state, find }) {
  const text = (find ?? "").trim().toLocaleLowerCase();
  return (!state || row.state === state)
    && (!text || [row.network, row.displayName ?? ""].some((each) => each.toLocaleLowerCase().includes(text)));
}

function filters(page, onChange) {
  const change = inAddress(page, onChange);
  return h("form", { class: "filters", role: "search", "aria-label": "Filter networks", on: { submit: (event) => event.preventDefault() } },
    field({ label: "Name or id", name: "find", type: "search", value: page.query.find, maxlength: "256", onInput: change("find", TYPING_MS) }),
    field({ label: "State", name: "state", type: "select", value: page.query.state ?? "", onInput: change("state", 0),
      options: STATES.map(([value, label]) => ({ value, label })) }));
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
  const where = h("div", { hidden: true });
  const attempt = postOnce(page);
  let placement;
  offerPlacements(page).then((choice) => {
    if (!choice) return;
    placement = choice;
    fields.push(choice);
    fill(where, choice).hidden = false;
  });

  async function post() {
    if (!id.value) {
      id.setError("This is needed.");
      id.input.focus();
      return false;
    }
    const body = {
      id: id.value, displayName: displayName.value || undefined, defaultLocale: defaultLocale.value.trim() || undefined,
      placement: placement?.value || undefined,
    };
    try {
      return (await attempt(PATH, body)).data;
    } catch (error) {
      if (showMistakes(fields, error)) return false;
      throw error;
    }
  }

  const made = await openDialog({
    title: "Make a network",
    body: h("form", { class: "fields", novalidate: true }, fields, where),
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
