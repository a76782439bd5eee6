/**
 * The title or the body of a template: one text, or one for each case.
 */

import { h, fill, uniqueID } from "../../core/dom.js";
import { KINDS, placeholders, variantName } from "./events.js";
import { placeOf } from "./texts.js";

const NAMES = { title: "Title", body: "Body" };

/**
 * @param {object} what
 * @param {string} what.type
 * @param {"title"|"body"} what.part
 * @param {import("./texts.js").Part} what.value
 * @param {() => void} what.onChange
 * @param {(variant: string) => void} what.onVariant hears which case is being written
 */
export function partEditor({ type, part, value, onChange, onVariant }) {
  const { variants } = KINDS[type][part];
  const current = structuredClone(value);
  const place = h("div", { class: "part-texts" });
  const headingID = uniqueID("part");
  let inputs = new Map();
  /** Where a placeholder goes that is clicked: the text that was written in last. */
  let target = null;

  const split = h("input", { class: "check", type: "checkbox", checked: current.isSplit, on: { change: () => {
    current.isSplit = split.checked;
    if (current.isSplit) for (const variant of variants) current.variants[variant] ||= current.one;
    else current.one = variants.map((variant) => current.variants[variant]).find(Boolean) ?? "";
    show();
    onChange();
  } } });

  function show() {
    inputs = new Map();
    target = null;
    fill(place, current.isSplit
      ? variants.map((variant) => text(`${part}/${variant}`, variantName(variant), current.variants[variant], (next) => {
        current.variants[variant] = next;
      }, variant))
      : text(part, null, current.one, (next) => {
        current.one = next;
      }));
  }

  function text(field, label, initial, set, variant) {
    const id = uniqueID("text");
    const mistake = h("div", { class: "mistake", id: `${id}-mistake`, "aria-live": "polite" });
    const input = h("textarea", {
      id, class: "input mono template-text", rows: part === "title" ? 1 : 2, spellcheck: "true", dir: "auto", value: initial,
      "aria-describedby": `${id}-mistake`, "aria-labelledby": label ? `${headingID} ${id}-label` : headingID,
      placeholder: variant ? "The built-in text" : null,
      on: {
        input: () => {
          set(input.value);
          onChange();
        },
        focus: () => {
          target = input;
          if (variant) onVariant(variant);
        },
        // A title is one line.
        keydown: (event) => part === "title" && event.key === "Enter" && event.preventDefault(),
      },
    });
    inputs.set(field, { input, mistake });
    target ??= input;
    return h("div", { class: "template-field" }, label && h("label", { for: id, id: `${id}-label` }, label), input, mistake);
  }

  show();
  const chips = h("div", { class: "chips", role: "group", "aria-label": "Placeholders" }, placeholders(type, part).map((placeholder) =>
    h("button", { class: "chip", type: "button", title: `Insert ${placeholder.text}`,
      on: { click: () => insert(target, placeholder.text) } },
      h("code", null, placeholder.text), " ", placeholder.words)));
  return {
    element: h("fieldset", { class: "part" }, h("legend", { id: headingID }, NAMES[part]),
      variants.length > 0 && h("label", { class: "check-label" }, split, h("span", null, `A ${NAMES[part].toLowerCase()} for each case`)),
        place, chips),
    get value() {
      return structuredClone(current);
    },
    /** @param {Map<string, {detail: string, line: number, column: number|null}>} mistakes by field */
    showMistakes(mistakes) {
      for (const [field, { input, mistake }] of inputs) {
        const found = mistakes.get(field);
        if (found) input.setAttribute("aria-invalid", "true");
        else input.removeAttribute("aria-invalid");
        fill(mistake, found && mistakeView(input, found));
      }
    },
  };
}

function insert(input, text) {
  input.focus();
  input.setRangeText(text, input.selectionStart, input.selectionEnd, "end");
  input.dispatchEvent(new Event("input", { bubbles: true }));
}

/** The mistake's words, and its line with the place marked. */
function mistakeView(input, { detail, line, column }) {
  if (column === null) return h("p", { class: "field-error" }, detail);
  const place = placeOf(input.value, line, column);
  const [from, to] = place.inLine;
  const head = [...place.line.slice(0, from)].slice(-40).join("");
  const tail = [...place.line.slice(to)].slice(0, 40).join("");
  return [
    h("pre", { class: "mistake-line", "aria-hidden": "true" }, head, h("mark", null, place.line.slice(from, to) || "\u00a0"), tail),
    h("p", { class: "field-error" }, detail, " ", h("button", { class: "link-button", type: "button", on: { click: () => {
      input.focus();
      input.setSelectionRange(place.start, place.end);
    } } }, "Go there")),
  ];
}
