/**
 * A choice between a few values, as a row of buttons.
 */

import { h, uniqueID } from "../core/dom.js";

/** @param {{label: string, options: Array<{value: string, label: string}>, value: string, onChange: (value: string) => void}} what */
export function segmented({ label, options, value, onChange }) {
  const group = uniqueID("segment");
  return h("fieldset", { class: "segmented" }, h("legend", { class: "visually-hidden" }, label),
    options.map((option) => h("label", { class: "segment" },
      h("input", { type: "radio", name: group, value: option.value, checked: option.value === value,
        on: { change: () => onChange(option.value) } }), h("span", null, option.label))));
}
