/**
 * The editor of one template, with what it looks like beside it.
 */

import { h, fill } from "../../core/dom.js";
import { ApiError, isAbort } from "../../core/api.js";
import { eventTypeName } from "../../core/format.js";
import { badge } from "../../components/badge.js";
import { confirm } from "../../components/dialog.js";
import { code } from "../../components/name.js";
import { pageView, section } from "../../components/page.js";
import { problem } from "../../components/problem.js";
import { time } from "../../components/time.js";
import { toast } from "../../components/toast.js";
import { fallbackOf, languageName, templateOf } from "./catalogue.js";
import { KINDS } from "./events.js";
import { partEditor } from "./part.js";
import { previewPane } from "./preview.js";
import { draftOf, isSame, mistakesOf, textsOf } from "./texts.js";

const UNDO_SECONDS = 10;

/**
 * @param {object} page
 * @param {{type: string, locale: string, templates: Array, defaultLocale: string}} what
 */
export function renderEditor(page, { type, locale, templates, defaultLocale }) {
  const path = page.path("templates", type, locale);
  let saved = templateOf(templates, type, locale);
  const fallback = fallbackOf(templates, type, locale, defaultLocale);
  const empty = { title: "%s", body: "%s" };
  let draft = draftOf(type, saved ?? fallback ?? empty);
  let release = null;

  const preview = previewPane(page, { type, locale, onMistakes: showMistakes });
  const status = h("div", { class: "editor-status" });
  const trouble = h("div");
  const fields = h("div", { class: "editor-parts" });
  const save = h("button", { class: "button primary", type: "submit" }, "Save");
  const discard = h("button", { class: "button", type: "button", on: { click: () => start(saved ?? fallback ?? empty) } }, "Undo changes");
  const back = h("button", { class: "button quiet", type: "button", on: { click: toBuiltIn } }, "Back to built-in");
  let parts = [];

  function start(source) {
    draft = draftOf(type, source);
    parts = ["title", "body"].map((part) => partEditor({ type, part, value: draft[part], onChange: changed,
      onVariant: (variant) => preview.setVariant(part, variant) }));
    fill(fields, parts.map((part) => part.element));
    changed();
  }

  function isDirty() {
    return !saved || !isSame(draft, draftOf(type, saved));
  }

  function changed() {
    for (const [index, part] of ["title", "body"].entries()) draft[part] = parts[index].value;
    const isChanged = !isSame(draft, draftOf(type, saved ?? fallback ?? empty));
    discard.disabled = !isChanged;
    save.disabled = !isDirty();
    back.hidden = saved?.origin !== "network";
    if (isChanged) release ??= page.hold("What you changed in this template is not saved.");
    else {
      release?.();
      release = null;
    }
    fill(status, ...statusWords(isChanged));
    preview.ask(textsOf(draft));
  }

  function statusWords(isChanged) {
    const unsaved = isChanged && badge("Not saved", "warn");
    if (saved?.origin === "network") return [badge("Your own", "info"), h("span", { class: "muted" }, "saved ", time(saved.updatedAt)),
      unsaved];
    if (saved) return [badge("Built-in", "neutral"), h("span", { class: "muted" }, "Saving puts your own in its place."), unsaved];
    const words = fallback ? `Readers get ${languageName(fallback.locale)} meanwhile, which is what this begins with.` : "Nothing is read meanwhile.";
    return [badge("Missing", "warn"), h("span", { class: "muted" }, words), unsaved];
  }

  function showMistakes(error) {
    const mistakes = mistakesOf(error?.problem);
    for (const part of parts) part.showMistakes(mistakes);
    return mistakes;
  }

  /** The template as it is stored, without the page's signal: what was begun is finished also after the page is left. */
  async function read() {
    try {
      return (await page.api.get(path)).data;
    } catch (error) {
      if (error.status === 404) return null;
      throw error;
    }
  }

  /** Whether what is stored is still what this knows of; asks when somebody else has changed it. */
  async function mayOverwrite({ outcome, act }) {
    const stored = await read();
    if (stored?.updatedAt === saved?.updatedAt && stored?.origin === saved?.origin) return true;
    return confirm({
      title: "Somebody else has changed this template",
      text: `It was ${stored?.origin === "network" ? "saved" : "put back to the built-in one"} by somebody else meanwhile. ${outcome}`,
      act,
      danger: true,
    });
  }

  async function onSave(event) {
    event.preventDefault();
    if (save.disabled || save.getAttribute("aria-busy")) return;
    save.setAttribute("aria-busy", "true");
    fill(trouble);
    try {
      if (!(await mayOverwrite({ outcome: "Saving puts yours in its place.", act: "Save mine" }))) return;
      const former = saved;
      const sent = structuredClone(draft);
      ({ data: saved } = await page.api.put(path, textsOf(sent)));
      // What was typed meanwhile stays.
      if (isSame(draft, sent)) start(saved);
      else changed();
      offerUndo("The template is saved.", former);
    } catch (error) {
      if (isAbort(error)) return;
      const mistakes = error instanceof ApiError && error.status === 400 ? showMistakes(error) : new Map();
      if (mistakes.size === 0 || mistakes.has("")) fill(trouble, problem(error, { compact: true }));
      else fields.querySelector("[aria-invalid]")?.focus();
    } finally {
      save.removeAttribute("aria-busy");
    }
  }

  async function toBuiltIn() {
    fill(trouble);
    try {
      if (!(await mayOverwrite({ outcome: "Going back removes what they wrote.", act: "Remove theirs" }))) return;
      const former = saved;
      await page.api.delete(path);
      saved = await read();
      start(saved ?? fallback ?? empty);
      offerUndo(saved ? "The built-in template is used again." : "Your own template is removed.", former);
    } catch (error) {
      if (!isAbort(error)) fill(trouble, problem(error, { compact: true }));
    }
  }

  /** Says what was done, and takes it back when it is asked to within ten seconds. */
  function offerUndo(words, former) {
    toast(words, { kind: "good", seconds: UNDO_SECONDS, action: { label: "Undo", run: async () => {
      try {
        if (!(await mayOverwrite({ outcome: "Undoing puts in its place what was there before yours.", act: "Undo all the same" }))) return;
        if (former?.origin === "network") await page.api.put(path, { title: former.title, body: former.body });
        else await page.api.delete(path);
        toast("It is as it was before.", { kind: "good" });
        saved = await read();
        if (!page.signal.aborted) start(saved ?? fallback ?? empty);
      } catch (error) {
        if (!isAbort(error)) toast(problem(error, { compact: true }), { kind: "bad", seconds: 15 });
      }
    } } });
  }

  start(saved ?? fallback ?? empty);
  const hasVariants = KINDS[type].body.variants.length > 0;
  return pageView({
    title: `${eventTypeName(type)} in ${languageName(locale)}`,
    back: { href: page.href("templates"), label: "All templates" },
    lead: h("span", { class: "editor-lead" }, code(type), " ", code(locale)),
  },
  h("form", { class: "card editor", novalidate: true, on: { submit: onSave } },
    status, fields,
    h("p", { class: "muted small" }, "%% is a percent sign. ",
      hasVariants && "Where a case has no text, the built-in one is used. ",
      "Names and messages go in as they are, whatever they look like."),
    trouble, h("div", { class: "form-buttons" }, save, discard, back)),
  section({ title: "Preview", actions: preview.controls }, preview.element));
}
