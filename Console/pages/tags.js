/**
 * Tags: audiences with a name, to which users and devices subscribe.
 */

import { fill, h } from "../core/dom.js";
import { count } from "../core/format.js";
import { titleOf } from "../core/pages.js";
import { badge } from "../components/badge.js";
import { icon } from "../components/icon.js";
import { code, name } from "../components/name.js";
import { pageView, section } from "../components/page.js";
import { listing } from "../components/table.js";
import { tagDialog } from "./tags/form.js";
import { renderTag } from "./tags/one.js";

export const title = (page) => page.params.id ?? titleOf("tags");
export const styles = ["people"];

/** So many tags are shown at a time: the subscribers of each are asked for. */
const PAGE_SIZE = 20;
const MOST_COUNTED = 1000;

/** @param {object} page */
export async function render(page) {
  return page.params.id === undefined ? renderAll(page) : renderTag(page, page.params.id);
}

function renderAll(page) {
  const make = h("button", { class: "button primary", type: "button", on: { click: async () => {
    const tag = await tagDialog(page);
    if (tag) await page.navigate(page.href("tags", tag.id));
  } } }, icon("plus"), "New tag");
  const list = listing({
    caption: "Tags that are declared",
    noun: "tag",
    rowKey: ({ id }) => id,
    rowHref: ({ id }) => page.href("tags", id),
    columns: [
      { title: "Tag", cell: ({ id }) => code(id, { longest: 60 }) },
      { title: "Description", wide: true, cell: ({ description }) => name(description, { longest: 80 }) },
      { title: "Who subscribes", cell: ({ selfService }) => (selfService ? badge("Users themselves", "info") : badge("Your back end")) },
      { title: "Subscribers", cell: ({ id }) => subscribers(page, id) },
    ],
    load: async ({ cursor }) => (await page.api.get(page.path("tags"), { query: { limit: PAGE_SIZE, cursor }, signal: page.signal })).data,
    empty: { title: "No tag is declared", picture: "tags", text: "Subscribing needs no declaration; a declared tag is listed here, and users may be let to subscribe themselves." },
  });
  return pageView({ title: titleOf("tags"), lead: "Audiences with a name, such as beta or news: a notification may be sent to whoever subscribes.", actions: [make] },
    section({ flush: true }, list));
}

/** How many subscribe, as soon as that is known; where it cannot be asked the tag’s page says why. */
function subscribers(page, tag) {
  const place = h("span", { class: "muted" }, "…");
  page.api.get(page.path("tags", tag, "subscribers"), { query: { limit: MOST_COUNTED }, signal: page.signal }).then(
    ({ data: { items, next } }) => fill(place, next ? `more than ${count(items.length, "subscriber")}` : count(items.length, "subscriber")),
    () => fill(place, "–"));
  return place;
}
