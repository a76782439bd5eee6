/**
 * One dialect: where its posts go, what is said of it, what was posted lately, and what a body would become.
 */

import { fill, h } from "../../core/dom.js";
import { titleOf } from "../../core/pages.js";
import { stateBadge } from "../../components/badge.js";
import { copyButton } from "../../components/copy.js";
import { confirm, openDialog } from "../../components/dialog.js";
import { empty } from "../../components/empty.js";
import { icon } from "../../components/icon.js";
import { code, name } from "../../components/name.js";
import { notice } from "../../components/notice.js";
import { facts, pageView, section } from "../../components/page.js";
import { problem } from "../../components/problem.js";
import { recent } from "../../components/recent.js";
import { time } from "../../components/time.js";
import { toast } from "../../components/toast.js";
import { verdictBadge } from "../../components/verdict.js";
import { settingInWords } from "../../components/document.js";
import { documentsOf, settingsOf } from "./document.js";
import { documentDialog } from "./form.js";
import { previewSection } from "./preview.js";

/** How many secrets are set, and since when each is. */
function secretsInWords(secrets = []) {
  if (secrets.length === 0) return h("span", { class: "muted" }, "none");
  return [`${secrets.length}: `, secrets.flatMap(({ setAt }, index) => [index > 0 && ", ", "set ", time(setAt)])];
}

/**
 * @param {object} page
 * @param {object} dialect of the catalogue
 */
export async function renderDialect(page, dialect) {
  let document = (await documentsOf(page))[dialect.id];
  const path = page.path("dialects", dialect.id);
  const address = location.origin + page.path("events", dialect.id);
  const state = h("div");
  const change = h("button", { class: "button primary", type: "button", on: { click: edit } });
  const remove = h("button", { class: "button", type: "button", on: { click: forget } }, icon("trash"), "Remove");

  function show() {
    remove.hidden = !document;
    fill(change, icon(document ? "templates" : "plus"), document ? "Change" : "Take its webhooks");
    if (!document) {
      fill(state, empty({ title: "Its webhooks are not taken", picture: "dialects",
        text: "Only who has an API key of role events or admin is answered there. Everybody else finds nothing." }));
      return;
    }
    const settings = settingsOf(document);
    fill(state, document.unreadable && notice("bad", "Its secrets were sealed with another master key: enter them anew."),
      document.warning && notice("bad", `${document.warning[0].toUpperCase()}${document.warning.slice(1)}.`), facts([
      ["State", stateBadge(document.enabled ? "enabled" : "disabled")],
      dialect.proof !== "basic" && [dialect.secret, secretsInWords(document.secrets)],
      dialect.proof !== "secrets" && ["User and password", document.basic
        ? [name(document.basic.user, { longest: 60 }), document.basic.setAt && [", set ", time(document.basic.setAt)]] : h("span", { class: "muted" }, "none")],
      ["Changed", time(document.updatedAt)],
      ...Object.entries(settings).map(([member, value]) => [member, code(settingInWords(value), { longest: 120 })]),
    ]));
  }

  async function edit() {
    const saved = await documentDialog(page, dialect, document);
    if (!saved) return;
    document = saved;
    show();
    toast("Saved.", { kind: "good" });
  }

  async function forget() {
    const agreed = await confirm({
      title: `Take no more webhooks of ${dialect.title}?`,
      text: "Its secrets and settings are forgotten, and its posts are answered by 404. What was accepted is still delivered.",
      act: "Remove",
      danger: true,
    });
    if (!agreed) return;
    try {
      await page.api.delete(path, { signal: page.signal });
    } catch (error) {
      if (page.signal.aborted) return;
      if (error.status !== 404) {
        await openDialog({ title: "It was not removed", body: problem(error), actions: [{ label: "Close", kind: "primary" }] });
        return;
      }
    }
    document = null;
    show();
    toast("Its webhooks are no longer taken.", { kind: "good" });
  }

  show();
  return pageView({ title: dialect.title, lead: dialect.text, back: { href: page.href("dialects"), label: titleOf("dialects") }, actions: [change, remove] },
    section({ title: "Where it posts" },
      h("span", { class: "address" }, code(address, { longest: 400 }), copyButton(address, "address")),
      h("ol", { class: "hook-steps" }, dialect.steps.map((step) => h("li", null, step))),
      dialect.warning && notice("warn", dialect.warning)),
    section({ title: "How it is taken" }, state),
    recent(page, {
      title: "Recent posts",
      path: page.path("dialects", dialect.id, "recent"),
      empty: { title: "Nothing was posted yet", picture: "clock", text: "Posts appear here by themselves, also those that are refused." },
      columns: [{ title: "Verdict", cell: ({ verdict }) => verdictBadge(verdict) }],
    }),
    previewSection(page, dialect));
}
