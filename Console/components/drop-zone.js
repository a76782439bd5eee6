/**
 * A place to drop files, with a button to choose them.
 */

import { h } from "../core/dom.js";
import { icon } from "./icon.js";

/**
 * The page that has it names the sheet `drop`.
 * @param {object} page
 * @param {object} what
 * @param {string} what.title
 * @param {string} what.text
 * @param {string} what.accept as inputs of files take it
 * @param {boolean} [what.multiple]
 * @param {(files: FileList) => Promise<void>|void} what.onFiles
 * @param {Array<Node>} [what.others] further buttons
 */
export function dropZone(page, { title, text, accept, multiple = false, onFiles, others }) {
  const input = h("input", { class: "visually-hidden", type: "file", multiple, tabindex: "-1", "aria-hidden": "true", accept,
    on: { change: async () => {
      await onFiles(input.files);
      input.value = "";
    } } });
  const zone = h("div", { class: "drop-zone" }, icon("upload"),
    h("div", { class: "drop-words" }, h("strong", null, title), h("p", { class: "muted small" }, text)),
    h("div", { class: "form-buttons" },
      h("button", { class: "button small", type: "button", on: { click: () => input.click() } }, multiple ? "Choose files…" : "Choose a file…"), others), input);

  // A file that misses the zone must not take the place of the console.
  const isOfFiles = (event) => event.dataTransfer?.types.includes("Files");
  document.addEventListener("dragover", (event) => {
    if (!isOfFiles(event)) return;
    event.preventDefault();
    zone.classList.add("armed");
    event.dataTransfer.dropEffect = zone.contains(event.target) ? "copy" : "none";
  }, { signal: page.signal });
  document.addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) zone.classList.remove("armed");
  }, { signal: page.signal });
  document.addEventListener("drop", async (event) => {
    if (!isOfFiles(event)) return;
    event.preventDefault();
    zone.classList.remove("armed");
    if (zone.contains(event.target)) await onFiles(event.dataTransfer.files);
  }, { signal: page.signal });
  return zone;
}
