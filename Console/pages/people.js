/**
 * People: finding a user.
 */

import { h } from "../core/dom.js";
import { finder } from "../components/finder.js";
import { code, name } from "../components/name.js";
import { pageView } from "../components/page.js";

export const title = "People";
export const styles = ["people"];

export async function render(page) {
  return pageView({ title, lead: "Who is notified of what, and why." }, finder(page, {
    list: "users",
    label: "Find somebody",
    caption: "People",
    noun: "user",
    rowHref: ({ id }) => page.href("people", id),
    columns: [
      { title: "Name", wide: true, cell: ({ id, displayName }) => name(displayName ?? id, { longest: 80 }) },
      { title: "Id", cell: ({ id }) => code(id, { longest: 60 }) },
      { title: "Language", cell: ({ locale }) => locale ?? h("span", { class: "muted" }, "–") },
      { title: "Roles", cell: ({ roles }) => name(roles.join(", "), { longest: 60 }) },
    ],
    empty: { title: "Nobody is found", picture: "people",
      text: "Users are found by the beginning of their id or of any word of their name, whatever the case. They are learnt from events, imports and the devices that apps register." },
  }));
}
