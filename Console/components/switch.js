/**
 * `<c-switch>`: on or off, saved as soon as it is moved.
 */

import { h, uniqueID } from "../core/dom.js";

class SwitchElement extends HTMLElement {
  connectedCallback() {
    if (this.button) return;
    this.button = h("button", { class: "switch", type: "button", role: "switch", "aria-checked": "false",
      "aria-labelledby": this.getAttribute("labelledby"), "aria-describedby": this.getAttribute("describedby"),
      on: { click: () => this.flip() } }, h("span", { class: "switch-thumb" }));
    this.append(this.button);
    this.checked = this.isChecked ?? false;
    this.disabled = this.isDisabled ?? false;
  }

  get checked() {
    return this.isChecked;
  }

  set checked(value) {
    this.isChecked = Boolean(value);
    this.button?.setAttribute("aria-checked", String(this.isChecked));
  }

  get disabled() {
    return this.isDisabled;
  }

  set disabled(value) {
    this.isDisabled = Boolean(value);
    if (this.button) this.button.disabled = this.isDisabled;
  }

  /** Moves at once, and moves back when whoever is asked refuses. */
  async flip() {
    if (this.isBusy) return;
    this.isBusy = true;
    const wanted = !this.checked;
    this.checked = wanted;
    this.button.setAttribute("aria-busy", "true");
    try {
      await this.onFlip?.(wanted);
    } catch {
      this.checked = !wanted;
    } finally {
      this.isBusy = false;
      this.button.removeAttribute("aria-busy");
    }
  }

  focus(options) {
    this.button?.focus(options);
  }
}

customElements.define("c-switch", SwitchElement);

/**
 * A switch with its words.
 * @param {object} what `label`, `description` (text or node), `checked`, `large`, `disabled`, and
 *   `onFlip(checked)`: async; when it throws, the switch goes back (whoever throws says why).
 * @returns {HTMLElement & {control: SwitchElement, setDescription: (content) => void}}
 */
export function toggle({ label, description, checked, large = false, disabled = false, onFlip }) {
  const labelID = uniqueID("switch");
  const describedID = `${labelID}-words`;
  const control = h("c-switch", { class: large && "large", labelledby: labelID, describedby: describedID });
  control.onFlip = onFlip;
  control.checked = checked;
  control.disabled = disabled;
  const words = h("div", { class: "toggle-description", id: describedID }, description);
  const element = h("div", { class: ["toggle", large && "large"] },
    h("div", { class: "toggle-words" }, h("div", { class: "toggle-label", id: labelID }, label), words), control);
  element.control = control;
  element.setDescription = (...content) => words.replaceChildren(...content.flat().filter(Boolean));
  return element;
}
