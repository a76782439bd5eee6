/**
 * What the list of networks says of placements, where there are several.
 */

import { fill, h } from "../../core/dom.js";
import { count } from "../../core/format.js";
import { readPlacements } from "../../core/placements.js";
import { addressOf } from "../../core/router.js";
import { field } from "../../components/field.js";
import { code } from "../../components/name.js";
import { notice } from "../../components/notice.js";

const PATH = "/v1/networks";
const PAGE_SIZE = 1000;
/** Whether networks say in which placement they are, which they do where there are several. */
let areSeveral = false;

/**
 * In which placement each network is: the list of what is wrong does not say it.
 * @returns {Promise<{of: (network: string) => string|undefined, learn: (rows: Array) => Promise<boolean>}|null>} null with one placement
 */
export async function placesOf(page) {
  const read = (query) => page.api.get(PATH, { query, signal: page.signal });
  areSeveral ||= (await read({ limit: 1 })).data.items.some((row) => row.placement);
  if (!areSeveral) return null;
  const known = new Map();
  const lacks = (rows) => rows.some((row) => !known.has(row.network));
  return {
    of: (network) => known.get(network),
    /** Answers whether something was learned. Networks hardly ever move: those that are known are asked for again when the list is opened anew. */
    async learn(rows) {
      if (!lacks(rows)) return false;
      for await (const { items } of page.api.list(PATH, { limit: PAGE_SIZE }, { signal: page.signal })) {
        for (const row of items) known.set(row.id, row.placement);
        if (!lacks(rows)) break;
      }
      return true;
    },
  };
}

/** Says of which placements the networks are missing. */
export function showMissing(place, placements = []) {
  const text = placements.join(", ");
  if (place.dataset.missing === text) return;
  place.dataset.missing = text;
  place.hidden = text === "";
  fill(place, placements.length > 0 && notice("warn", placements.length > 1 ? "These placements cannot be used now, and their networks are missing here: "
    : "This placement cannot be used now, and its networks are missing here: ",
  placements.map((each, index) => [index > 0 && ", ", code(each)]), ". ", h("a", { href: addressOf("placements") }, "How placements are")));
}

/** The choice of where a network is made; none with one placement, nor where they cannot be asked: then Carillon chooses. */
export async function offerPlacements(page) {
  const all = await readPlacements({ signal: page.signal }).catch(() => []);
  const open = all.filter(({ state }) => state === "open");
  if (all.length < 2 || open.length === 0) return null;
  return field({ label: "Placement", name: "placement", type: "select", hint: "Where all of it is kept, until the operator moves it.",
    options: [{ value: "", label: "The open one with the fewest networks" }, ...open.map(({ name: value, ready, networks }) => ({ value,
      label: `${value} (${ready ? count(networks, "network") : "cannot be used now"})` }))] });
}
