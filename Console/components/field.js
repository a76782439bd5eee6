/**
 * Inputs with their label, hint and mistake; and forms that say what the API refused beside the field it refused.
 */

import { h, fill, uniqueID } from "../core/dom.js";
import { ApiError, isAbort } from "../core/api.js";
import { problem } from "./problem.js";

function makeInput({ type, id, options, rows, mono, value, ...rest }) {
  const props = { id, class: ["input", mono && "mono"], ...rest };
  if (type === "textarea") return h("textarea", { ...props, rows: rows ?? 4, value: value ?? "" });
  if (type === "select") {
    return h("select", { ...props, value: value ?? "" }, options.map((option) => {
      const { label, value: optionValue } = typeof option === "object" ? option : { label: option, value: option };
      return h("option", { value: optionValue }, label);
    }));
  }
  if (type === "checkbox") return h("input", { ...props, class: "check", type, checked: Boolean(value) });
  return h("input", { ...props, type, value: value ?? "" });
}

/**
 * A labelled input.
 * @param {object} what `label`, `name`, `type` (any of input's, `textarea`, `select`, `checkbox`), `value`, `hint`, `options`
 *   (of a select: texts or `{label, value}`), `pointer` (the JSON Pointer of the member it fills), `mono`, `onInput`, and any
 *   other attribute.
 * @returns {HTMLElement & {input: HTMLElement, value: any, setError: (text: string|null) => void}}
 */
export function field({ label, name, type = "text", value, hint, options, pointer, onInput, suggestions, ...rest }) {
  const id = uniqueID("field");
  const hintID = `${id}-hint`;
  const errorID = `${id}-error`;
  const listID = `${id}-list`;
  const input = makeInput({ type, id, name, value, options, "aria-describedby": `${hintID} ${errorID}`,
    list: suggestions && listID, spellcheck: "false", autocomplete: "off", ...rest });
  const error = h("p", { class: "field-error", id: errorID });
  const isCheck = type === "checkbox";
  const element = h("div", { class: ["field", isCheck && "field-check"] },
    !isCheck && h("label", { for: id }, label, rest.required && h("span", { class: "required", "aria-hidden": "true" }, " *")),
    isCheck ? h("label", { class: "check-label", for: id }, input, h("span", null, label)) : input,
    suggestions && h("datalist", { id: listID }, suggestions.map((each) => h("option", { value: each }))),
    h("p", { class: "field-hint", id: hintID }, hint), error);
  input.addEventListener("input", () => {
    element.setError(null);
    onInput?.(element.value, element);
  });
  element.input = input;
  element.pointer = pointer ?? (name ? `/${name}` : null);
  element.setError = (text) => {
    fill(error, text);
    if (text) input.setAttribute("aria-invalid", "true");
    else input.removeAttribute("aria-invalid");
  };
  Object.defineProperty(element, "value", {
    get: () => (isCheck ? input.checked : input.value),
    set: (next) => {
      if (isCheck) input.checked = Boolean(next);
      else input.value = next ?? "";
    },
  });
  return element;
}

/** A number as it was typed; what is none goes to the API as it is, which says what it should be. */
export function numberOf(text) {
  const trimmed = text.trim();
  return /^-?\d+$/.test(trimmed) ? Number(trimmed) : trimmed;
}

/** Shows what the API refused beside the fields that it names; answers whether every mistake found its field. */
export function showMistakes(fields, error) {
  const mistakes = error instanceof ApiError ? error.problem?.errors ?? [] : [];
  let first = null;
  let isAllShown = mistakes.length > 0;
  for (const { pointer, detail } of mistakes) {
    const owner = fields.find((each) => each.pointer === pointer)
      ?? fields.find((each) => each.pointer && pointer.startsWith(`${each.pointer}/`));
    if (!owner) {
      isAllShown = false;
      continue;
    }
    owner.setError(detail);
    first ??= owner;
  }
  first?.input.focus();
  return isAllShown;
}

/**
 * A form: one column of fields, its buttons below, and what went wrong in between.
 * @param {object} what
 * @param {Array<Node>} what.body fields and whatever stands between them
 * @param {string} what.submit the button's words
 * @param {(event: SubmitEvent) => Promise<void>} what.onSubmit what it throws is shown
 * @param {Array<Node>} [what.others] further buttons
 */
export function form({ body, submit, onSubmit, others = [], ...rest }) {
  const trouble = h("div", { class: "form-trouble" });
  const button = h("button", { class: "button primary", type: "submit" }, submit);
  const element = h("form", { class: "form", novalidate: true, ...rest, on: { submit: run } },
    body, trouble, h("div", { class: "form-buttons" }, button, others));

  async function run(event) {
    event.preventDefault();
    event.stopPropagation();
    if (button.getAttribute("aria-busy")) return;
    const fields = [...element.querySelectorAll(".field")];
    const missing = fields.filter((each) => each.input?.required && !String(each.value).trim());
    if (missing.length > 0) {
      for (const each of missing) each.setError("This is needed.");
      missing[0].input.focus();
      return;
    }
    fill(trouble);
    button.setAttribute("aria-busy", "true");
    try {
      await onSubmit(event);
    } catch (error) {
      if (isAbort(error)) return;
      if (!showMistakes(fields, error)) fill(trouble, problem(error, { compact: true }));
    } finally {
      button.removeAttribute("aria-busy");
    }
  }

  return element;
}
