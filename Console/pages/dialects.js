/**
 * Webhook dialects: chat backends whose own webhooks are read as they are.
 */

import { h } from "../core/dom.js";
import { titleOf } from "../core/pages.js";
import { badge, stateBadge } from "../components/badge.js";
import { empty } from "../components/empty.js";
import { pageView, section } from "../components/page.js";
import { listing } from "../components/table.js";
import { time } from "../components/time.js";
import { dialectOf, dialects } from "./dialects/catalogue.js";
import { documentsOf, proofInWords } from "./dialects/document.js";
import { renderDialect } from "./dialects/one.js";

export const title = (page) => dialectOf(page.params.id)?.title ?? titleOf("dialects");
export const styles = ["code", "documents"];

/** @param {object} page */
export async function render(page) {
  const { id } = page.params;
  if (id === undefined) return renderAll(page);
  const dialect = dialectOf(id);
  return dialect ? renderDialect(page, dialect) : renderNone(page);
}

function renderAll(page) {
  const list = listing({
    caption: titleOf("dialects"),
    noun: "dialect",
    rowKey: ({ id }) => id,
    rowHref: ({ id }) => page.href("dialects", id),
    load: async () => {
      const documents = await documentsOf(page);
      return { items: dialects.map((dialect) => ({ ...dialect, document: documents[dialect.id] })) };
    },
    empty: { title: "No dialects", picture: "dialects" },
    columns: [
      { title: "System", whole: true, cell: (dialect) => dialect.title },
      { title: "What it is", wide: true, cell: ({ text }) => text },
      { title: "State", cell: ({ document }) => (document?.warning ? badge("Refuses posts", "bad") : document ? stateBadge(document.enabled ? "enabled" : "disabled") : badge("Not in use")) },
      { title: "Proven by", cell: ({ document }) => (document ? proofInWords(document) : h("span", { class: "muted" }, "–")) },
      { title: "Changed", cell: ({ document }) => time(document?.updatedAt) },
    ],
  });
  return pageView({ title: titleOf("dialects"), lead: "Chat backends post what they post anyway, and their people are notified. Nothing has to be written." },
    section({ flush: true }, list));
}

function renderNone(page) {
  return pageView({ title: titleOf("dialects"), back: { href: page.href("dialects"), label: titleOf("dialects") } },
    section({}, empty({ title: "There is no such dialect", text: "It may be mistyped, or from another version of the console.", picture: "dialects",
      action: h("a", { class: "button", href: page.href("dialects") }, "See all dialects") })));
}
