/**
 * A part of a network's settings: fields that are saved together.
 */

import { h, fill } from "../../core/dom.js";
import { documentForm } from "../../components/document.js";
import { form } from "../../components/field.js";
import { toast } from "../../components/toast.js";

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

const isSame = (one, other) => JSON.stringify(one ?? null) === JSON.stringify(other ?? null);

/**
 * A merge patch that makes one document the other: what the other leaves out is null, which stands for the default. What is the
 * same in both is not in it: somebody else may have changed it meanwhile.
 */
export function patchOf(before, after) {
  const changed = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((key) => !isSame(before[key], after[key]));
  return Object.fromEntries(changed.map((key) => [key,
    isObject(before[key]) && isObject(after[key] ?? {}) ? patchOf(before[key], after[key] ?? {}) : after[key] ?? null]));
}

/**
 * @param {object} what
 * @param {object} what.value the document as it is
 * @param {Array<object>} what.fields as `documentForm` takes them
 * @param {(value: object) => Promise<object>} what.save answers the document as it is afterwards
 * @param {(value: object) => Array<Node>} [what.others] further buttons
 * @param {string} what.label of the form
 */
export function part({ value, fields, save, others, label }) {
  const place = h("div");

  function show(current) {
    const settings = documentForm({ fields, value: current });
    fill(place, form({ body: [settings], submit: "Save", others: others?.(current), "aria-label": label, onSubmit: async () => {
      const wanted = settings.value;
      if (!wanted) return;
      const saved = await save(wanted, current);
      // What was typed meanwhile stays.
      if (isSame(settings.value, wanted)) {
        show(saved);
        place.querySelector("[type=submit]").focus();
      }
      toast("Saved.", { kind: "good" });
    } }));
  }

  show(value);
  return place;
}
