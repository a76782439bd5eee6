/**
 * Placements: the databases and schemas that networks are kept in, how each is, and which take new networks.
 */

import { h } from "../core/dom.js";
import { count, number } from "../core/format.js";
import { placementPath, readPlacements, size } from "../core/placements.js";
import { badge } from "../components/badge.js";
import { openDialog } from "../components/dialog.js";
import { code, name } from "../components/name.js";
import { pageView, section } from "../components/page.js";
import { listing } from "../components/table.js";
import { toast } from "../components/toast.js";

export const title = "Placements";

const LOOK_EVERY_MS = 10_000;
const MOST_PENDING = 3;
const STATES = { open: ["Open", "good"], full: ["Full", "neutral"], leaving: ["Leaving", "warn"] };

/** What may be done to a placement, by the state that it is in afterwards. */
const ACTS = {
  open: { label: "Open", question: "Open it for new networks?", act: "Open it", done: "takes new networks.",
    text: "New networks go to the open placement with the fewest, or where whoever makes one says. Every replica has to know the placement by then: "
      + "one that does not refuses its networks." },
  full: { label: "Mark full", question: "Mark it full?", act: "Mark it full", done: "takes no new networks.",
    text: "No new network is made there. Those that are there stay, and work as before." },
  leaving: { label: "Mark leaving", question: "Mark it as leaving?", act: "Mark it as leaving", done: "takes no new networks.",
    text: "No new network is made there, and it is marked as one that is to be given up. Those that are there stay until somebody "
      + "moves them, each on its page of settings, and work as before." },
};

/** @param {object} page */
export function render(page) {
  const load = async () => ({ items: await readPlacements({ signal: page.signal }) });
  const list = listing({
    caption: "Placements, by name",
    noun: "placement",
    load,
    live: true,
    rowKey: (placement) => placement.name,
    empty: { title: "No placement", picture: "placements", text: "The API lists none." },
    columns: [
      { title: "Name", cell: (placement) => code(placement.name) },
      { title: "State", cell: ({ state }) => badge(...(STATES[state] ?? [state])) },
      { title: "Can be used", wide: true, cell: ({ ready, reason }) => [badge(ready ? "Yes" : "No", ready ? "good" : "bad"),
        reason && h("div", { class: "small" }, name(reason))] },
      { title: "Networks", numeric: true, cell: (placement) => number(placement.networks) },
      { title: "Schema", cell: schema },
      { title: "Size", numeric: true, cell: ({ bytes }) => (bytes === null ? h("span", { class: "muted" }, "not known") : size(bytes)) },
      { title: "Actions", hideTitle: true, cell: buttons },
    ],
  });
  const watch = page.live(() => list.refresh(), LOOK_EVERY_MS, { onError: (error) => list.fail(error, { retry: () => watch.now() }) });

  function buttons(placement) {
    // There is nothing to choose between.
    if (list.items.length < 2) return null;
    return h("div", { class: "row-actions" }, Object.keys(ACTS).filter((state) => state !== placement.state).map((state) =>
      h("button", { class: "button small quiet", type: "button", on: { click: () => ask(placement, state) } }, ACTS[state].label,
        h("span", { class: "visually-hidden" }, " ", placement.name))));
  }

  async function ask(placement, state) {
    const { question, text, act, done } = ACTS[state];
    const isLast = placement.state === "open" && !list.items.some((each) => each.state === "open" && each.name !== placement.name);
    const changed = await openDialog({
      title: question,
      body: [
        h("p", null, "The placement is ", code(placement.name), ", with ", count(placement.networks, "network"), "."),
        h("p", null, text),
        isLast && h("p", null, h("strong", null, "No other placement is open: no network can be made until one is.")),
      ],
      actions: [
        { label: "Cancel", kind: "quiet" },
        { label: act, kind: isLast ? "danger" : "primary",
          run: async () => (await page.api.patch(placementPath(placement.name), { state }, { signal: page.signal })).data },
      ],
    });
    if (!changed) return;
    list.setItems(list.items.map((each) => (each.name === changed.name ? changed : each)));
    toast(`${changed.name} ${done}`, { kind: "good" });
    // What is under way may have been asked for before.
    watch.now();
  }

  return pageView({ title, lead: "The databases and schemas that networks are kept in, each with everything that belongs to it." },
    section({ flush: true }, list));
}

/** By which migrations a placement's tables are made, or which of them are missing. */
function schema({ schema: known }) {
  if (!known) return h("span", { class: "muted" }, "not known");
  const { version, pending } = known;
  const latest = version === null ? "none" : String(version);
  if (pending.length === 0) return latest;
  const rest = pending.length - MOST_PENDING;
  return [badge(`${number(pending.length)} pending`, "warn"), h("div", { class: "small" }, `${latest}; lacks `,
    name(pending.slice(0, MOST_PENDING).join(", ")), rest > 0 && ` and ${number(rest)} more`)];
}
