/**
 * Recent posts: what the chat back end posted lately and what became of each, also of those that were refused or ignored, and why.
 */

import { h } from "../core/dom.js";
import { titleOf } from "../core/pages.js";
import { copyButton } from "../components/copy.js";
import { code } from "../components/name.js";
import { pageView, section } from "../components/page.js";
import { recent } from "../components/recent.js";
import { verdictBadge } from "../components/verdict.js";

export const title = titleOf("posts");
export const styles = ["documents"];

/** @param {object} page */
export function render(page) {
  const address = location.origin + page.path("events");
  return pageView({ title, lead: "What your chat back end posted, and what became of it: accepted, known before, ignored or refused, and why." },
    section({ title: "Where it posts", note: "Signed, or with an API key of role events." },
      h("span", { class: "address" }, code(address, { longest: 400 }), copyButton(address, "address")),
      h("p", { class: "muted" }, "What is accepted goes on under ", h("a", { href: page.href("events") }, titleOf("events")),
        "; keys and secrets are under ", h("a", { href: page.href("keys") }, titleOf("keys")),
        "; what other chat back ends post is listed at each of them under ", h("a", { href: page.href("dialects") }, titleOf("dialects")), ".")),
    recent(page, {
      title: "The latest",
      path: page.path("events", "recent"),
      empty: { title: "Nothing was posted yet", picture: "clock", text: "Posts appear here by themselves, also those that are refused. They are kept for a week." },
      columns: [{ title: "Verdict", cell: ({ verdict }) => verdictBadge(verdict) }],
    }));
}
