/**
 * Faces: the apps and servers of other systems that are answered as if Carillon were theirs.
 */

import { h } from "../core/dom.js";
import { count } from "../core/format.js";
import { titleOf } from "../core/pages.js";
import { empty } from "../components/empty.js";
import { badge } from "../components/badge.js";
import { name } from "../components/name.js";
import { pageView, section } from "../components/page.js";
import { listing } from "../components/table.js";
import { faceOf, faces } from "./faces/catalogue.js";
import { bindings } from "./faces/names.js";
import { renderFace } from "./faces/one.js";

export const title = (page) => (page.params.id === undefined ? titleOf("faces") : faceOf(page.params.id)?.title ?? titleOf("faces"));
export const styles = ["code", "documents"];

/** @param {object} page */
export async function render(page) {
  const { id } = page.params;
  if (id === undefined) return renderAll(page);
  const face = faceOf(id);
  return face ? renderFace(page, face) : renderNone(page);
}

function renderAll(page) {
  const list = listing({
    caption: titleOf("faces"),
    noun: "face",
    rowKey: (face) => face.id,
    rowHref: (face) => page.href("faces", face.id),
    load: async () => {
      const items = await bindings(page);
      return { items: faces.map((face) => ({ ...face, names: items.filter((item) => item.face === face.id).map((item) => item.externalId) })) };
    },
    signature: ({ names }) => names.join(),
    empty: { title: "No faces", picture: "faces" },
    columns: [
      { title: "System", whole: true, cell: (face) => face.title },
      { title: "What it is", wide: true, cell: (face) => face.text },
      { title: "State", cell: ({ names }) => (names.length > 0 ? badge(`${count(names.length, "name")} bound`, "good") : badge("Not in use")) },
      { title: "Names", cell: ({ names }) => name(names.join(", "), { longest: 60 }) },
    ],
  });
  return pageView({ title: titleOf("faces"), lead: "Apps and servers that were made for other systems, and reach Carillon as if it were theirs: only the host changes." },
    section({ flush: true }, list));
}

function renderNone(page) {
  return pageView({ title: titleOf("faces"), back: { href: page.href("faces"), label: titleOf("faces") } },
    section({}, empty({ title: "There is no such face", text: "It may be mistyped, or from another version of the console.", picture: "faces",
      action: h("a", { class: "button", href: page.href("faces") }, "See all faces") })));
}
