/**
 * Which templates there are, and what is read where one is missing.
 */

const names = new Intl.DisplayNames("en-GB", { type: "language", fallback: "none" });

/** `Brazilian Portuguese` for `pt-BR`; the tag itself where it has no name. */
export function languageName(locale) {
  try {
    return names.of(locale) ?? locale;
  } catch {
    return locale;
  }
}

/** A language tag as everybody writes it; null where it is none. */
export function canonicalLocale(tag) {
  try {
    return tag ? (Intl.getCanonicalLocales(tag)[0] ?? null) : null;
  } catch {
    return null;
  }
}

/** Every template of the network, its own in place of the built-in ones. */
export async function loadTemplates(page, signal = page.signal) {
  const templates = [];
  for await (const { items } of page.api.list(page.path("templates"), { limit: 1000 }, { signal })) templates.push(...items);
  return templates;
}

/** The template of a cell; null where it is missing. */
export function templateOf(templates, type, locale) {
  return templates.find((template) => template.type === type && template.locale === locale) ?? null;
}

/** What is read where a template is missing: a more general language's, then the network's default, then English. */
export function fallbackOf(templates, type, locale, defaultLocale) {
  for (const wanted of [...generalOf(locale), ...(defaultLocale ? [defaultLocale, ...generalOf(defaultLocale)] : []), "en"]) {
    const found = templateOf(templates, type, wanted);
    if (found) return found;
  }
  return null;
}

/** `zh-Hant`, `zh` for `zh-Hant-TW` */
function generalOf(locale) {
  const parts = locale.split("-");
  return parts.slice(1).map((_, index) => parts.slice(0, parts.length - 1 - index).join("-"));
}
