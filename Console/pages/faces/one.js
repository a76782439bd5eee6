/**
 * One face: the names that are bound to the network, the keys of its callers, and what it answered lately.
 */

import { h } from "../../core/dom.js";
import { titleOf } from "../../core/pages.js";
import { badge } from "../../components/badge.js";
import { copyButton } from "../../components/copy.js";
import { code } from "../../components/name.js";
import { facts, pageView, section } from "../../components/page.js";
import { recent } from "../../components/recent.js";
import { namesSection } from "./names.js";
import { keysSection } from "./keys.js";

/** The colour of a status. */
function kindOf(status) {
  return status < 300 ? "good" : status < 500 ? "warn" : "bad";
}

/**
 * @param {object} page
 * @param {object} face of the catalogue
 */
export function renderFace(page, face) {
  const address = face.address(location.origin);
  return pageView({ title: face.title, lead: face.text, back: { href: page.href("faces"), label: titleOf("faces") } },
    section({ title: "Where it is" }, facts([
      ["Its clients connect to", h("span", { class: "address" }, code(address), copyButton(address, "address"))],
      ["Before a name is bound", "everything there is answered by 404, in that system’s own words"],
    ])),
    namesSection(page, face),
    face.keys && keysSection(page, face),
    recent(page, {
      title: "Last answered and refused",
      path: page.path("faces", face.id, "recent"),
      empty: { title: "Nothing was answered yet", picture: "clock", text: "Requests of this network’s callers appear here by themselves." },
      columns: [
        { title: "Operation", cell: ({ operation }) => code(operation, { longest: 60 }) },
        { title: "Answer", cell: ({ status }) => badge(String(status), kindOf(status)) },
      ],
    }));
}
