/**
 * Templates: which text each event has in each language, and the editor of one of them.
 */

import { h } from "../core/dom.js";
import { withQuery } from "../core/api.js";
import { eventTypeName } from "../core/format.js";
import { badge } from "../components/badge.js";
import { field, form } from "../components/field.js";
import { code } from "../components/name.js";
import { pageView, section } from "../components/page.js";
import { table } from "../components/table.js";
import { segmented } from "../components/segmented.js";
import { renderEditor } from "./templates/editor.js";
import { EVENT_TYPES } from "./templates/events.js";
import { canonicalLocale, fallbackOf, languageName, loadTemplates } from "./templates/catalogue.js";

export const title = "Templates";
export const styles = ["notification", "templates"];

export async function render(page) {
  const [templates, { data: network }] = await Promise.all([
    loadTemplates(page),
    page.api.get(page.path(), { signal: page.signal }),
  ]);
  const { type, locale } = page.query;
  if (EVENT_TYPES.includes(type) && canonicalLocale(locale)) {
    return renderEditor(page, { type, locale: canonicalLocale(locale), templates, defaultLocale: network.defaultLocale });
  }
  return renderGrid(page, templates, network.defaultLocale);
}

/** The address of the editor of one template. */
function addressOf(page, type, locale) {
  return withQuery(page.href("templates"), { type, locale });
}

function renderGrid(page, templates, defaultLocale) {
  const locales = [...new Set(templates.map((template) => template.locale))]
    .sort((one, other) => languageName(one).localeCompare(languageName(other), "en"));
  const rows = locales.map((locale) => ({ locale, cells: EVENT_TYPES.map((type) =>
    templates.find((template) => template.type === type && template.locale === locale) ?? null) }));

  function cell(row, index) {
    const type = EVENT_TYPES[index];
    const template = row.cells[index];
    const origin = template?.origin ?? "missing";
    const words = { builtIn: "Built-in", network: "Your own", missing: "Missing" }[origin];
    const fallback = template ? null : fallbackOf(templates, type, row.locale, defaultLocale);
    return h("a", { class: ["cell", origin], href: addressOf(page, type, row.locale) },
      badge(words, { builtIn: "neutral", network: "info", missing: "warn" }[origin]),
      h("span", { class: "visually-hidden" }, `: ${eventTypeName(type)} in ${languageName(row.locale)}`),
      fallback && h("span", { class: "muted small" }, `read in ${languageName(fallback.locale)}`));
  }

  const grid = table({
    caption: "Templates by language and event",
    rowKey: ({ locale }) => locale,
    rows,
    columns: [
      { title: "Language", wide: true, cell: ({ locale }) => h("span", { class: "language" }, languageName(locale), " ", code(locale),
        locale === defaultLocale && badge("Default", "neutral")) },
      ...EVENT_TYPES.map((type, index) => ({ title: eventTypeName(type), cell: (row) => cell(row, index) })),
    ],
  });
  const choice = segmented({ label: "Which", value: "all", options: [{ value: "all", label: "All languages" }, { value: "network", label: "With your own" }],
    onChange: (value) => grid.setRows(value === "all" ? rows : rows.filter(({ cells }) => cells.some((template) => template?.origin === value))) });
  const own = templates.filter((template) => template.origin === "network").length;
  const note = own === 0 ? "All of them are the built-in ones." : `${own} of your own in place of the built-in ones.`;
  return pageView({ title, lead: "What notifications say. A reader gets the language of their device, then their own, then the network’s default." },
    section({ title: "All templates", note, flush: true, actions: own > 0 ? [choice] : undefined }, grid),
    section({ title: "Another language" }, newLanguage(page)));
}

function newLanguage(page) {
  const tag = field({ label: "Language tag", name: "locale", required: true, mono: true, placeholder: "pt-BR", maxlength: "35",
    hint: "As phones name it: nl, pt-BR, zh-Hant." });
  const type = field({ label: "Event", name: "type", type: "select", value: EVENT_TYPES[0],
    options: EVENT_TYPES.map((each) => ({ value: each, label: eventTypeName(each) })) });
  return form({
    class: "form new-language",
    body: [h("div", { class: "filters" }, tag, type)],
    submit: "Write a template",
    onSubmit: async () => {
      const locale = canonicalLocale(tag.value.trim());
      if (!locale) return tag.setError("This is no language tag, such as nl or pt-BR.");
      await page.navigate(addressOf(page, type.value, locale));
    },
  });
}
