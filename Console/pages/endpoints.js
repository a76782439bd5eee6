/**
 * Endpoints: servers of the network's own that are told what happens, or asked about it.
 */

import { h } from "../core/dom.js";
import { titleOf } from "../core/pages.js";
import { icon } from "../components/icon.js";
import { code, name } from "../components/name.js";
import { pageView, section } from "../components/page.js";
import { listing } from "../components/table.js";
import { time } from "../components/time.js";
import { endpointState, modeBadge } from "./endpoints/badges.js";
import { endpointDialog } from "./endpoints/form.js";
import { renderOne } from "./endpoints/one.js";

export const title = titleOf("endpoints");
export const styles = ["endpoints"];
const LOOK_EVERY_MS = 10_000;

/** @param {object} page */
export async function render(page) {
  return page.params.id === undefined ? renderAll(page) : renderOne(page, page.params.id);
}

function renderAll(page) {
  const options = { signal: page.signal };
  const load = async () => (await page.api.get(page.path("endpoints"), options)).data;
  const make = h("button", { class: "button primary", type: "button", on: { click: run } }, icon("plus"), "New endpoint");
  const list = listing({
    caption: "Endpoints, the oldest first",
    noun: "endpoint",
    load,
    live: true,
    rowKey: (endpoint) => endpoint.id,
    rowHref: (endpoint) => page.href("endpoints", endpoint.id),
    empty: {
      title: "No endpoints", picture: "endpoints",
      text: "An endpoint is a server of yours. It observes what happens, or is asked before anybody is notified.",
    },
    columns: [
      { title: "Endpoint", wide: true, cell: (endpoint) => [name(endpoint.description || endpoint.url, { longest: 80 }),
        endpoint.description && h("div", { class: "muted small" }, code(endpoint.url, { longest: 80 }))] },
      { title: "Mode", cell: (endpoint) => modeBadge(endpoint.mode) },
      { title: "State", cell: endpointState },
      { title: "Events", cell: (endpoint) => name(endpoint.events.join(", "), { longest: 60 }) },
      { title: "Last success", cell: (endpoint) => time(endpoint.lastSuccessAt, { fallback: "never" }) },
      { title: "Last error", cell: (endpoint) => name(endpoint.lastError, { fallback: "none", longest: 60 }) },
    ],
  });
  const watch = page.live(() => list.refresh(), LOOK_EVERY_MS, { onError: (error) => list.fail(error, { retry: () => watch.now() }) });

  async function run() {
    const endpoint = await endpointDialog(page);
    if (endpoint) page.navigate(page.href("endpoints", endpoint.id));
  }

  return pageView(
    { title, lead: "Servers of your own that are told what happens, or asked before anybody is notified. At most 16.", actions: [make] },
    section({ flush: true }, list),
  );
}
