/**
 * The members of a channel: a page at a time, added and removed one by one.
 */

import { isAbort, withQuery } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { field, form } from "../../components/field.js";
import { code } from "../../components/name.js";
import { section } from "../../components/page.js";
import { problem } from "../../components/problem.js";
import { suggestions } from "../../components/suggestions.js";
import { listing } from "../../components/table.js";
import { announce, toast } from "../../components/toast.js";

const PAGE_SIZE = 100;
const UNDO_SECONDS = 10;

/**
 * @param {object} page
 * @param {string} channel
 */
export function membersSection(page, channel) {
  const pathOf = (user) => page.path("channels", channel, "members", user);
  const list = listing({
    caption: "Members of this channel",
    noun: "member",
    rowKey: ({ userId }) => userId,
    columns: [
      { title: "User", wide: true, cell: ({ userId }) => h("a", { href: page.href("people", userId) }, code(userId, { longest: 80 })) },
      { title: "Actions", hideTitle: true, cell: ({ userId }) => h("div", { class: "row-actions" },
        h("a", { class: "button small", href: withQuery(page.href("people", userId), { channel }) }, "Their switches",
          h("span", { class: "visually-hidden" }, ` of ${userId}`)),
        h("button", { class: "button small danger quiet", type: "button", on: { click: () => remove(userId) } }, "Remove",
          h("span", { class: "visually-hidden" }, ` ${userId}`))) },
    ],
    load: async ({ cursor }) => (await page.api.get(page.path("channels", channel, "members"), { query: { limit: PAGE_SIZE, cursor }, signal: page.signal })).data,
    empty: { title: "Nobody is a member", picture: "people", text: "Whoever writes here becomes one; others are learnt from events and imports, or added here." },
  });

  const user = field({ label: "New member", name: "userId", required: true, maxlength: "256", placeholder: "A user’s id or name", suggestions: [], pointer: "" });
  const known = suggestions(page, user, "users");

  async function add() {
    const userId = known.resolve(user.value.trim());
    const { status } = await page.api.put(pathOf(userId), {}, { signal: page.signal });
    user.value = "";
    user.input.focus();
    toast(status === 201 ? `${userId} is a member now.` : `${userId} was a member already.`, { kind: "good" });
    await list.reload();
  }

  /** Not asked for: it can be taken back, also after the page was left. */
  async function remove(userId) {
    try {
      await page.api.delete(pathOf(userId));
      await list.reload();
      toast(`${userId} is no member any more.`, { kind: "good", seconds: UNDO_SECONDS, action: { label: "Undo", run: async () => {
        await attempt(() => page.api.put(pathOf(userId), {}));
        announce(`${userId} is a member again`);
        if (!page.signal.aborted) await list.reload();
      } } });
    } catch (error) {
      show(error);
    }
  }

  async function attempt(act) {
    try {
      await act();
    } catch (error) {
      show(error);
    }
  }

  function show(error) {
    if (!isAbort(error)) toast(problem(error, { compact: true }), { kind: "bad", seconds: 15 });
  }

  return [
    section({ title: "Members", flush: true }, list),
    section({}, form({ class: "form", body: [user], submit: "Add", onSubmit: add, "aria-label": "Add a member" })),
  ];
}
