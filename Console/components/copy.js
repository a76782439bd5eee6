/**
 * `<c-copy>`: a button that copies a text.
 */

import { h, fill } from "../core/dom.js";
import { icon } from "./icon.js";
import { announce } from "./toast.js";

const SAID_FOR_MS = 2000;

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without HTTPS there is no clipboard API; a selection can still be copied.
    const area = h("textarea", { class: "visually-hidden", readonly: true, value: text });
    const host = document.querySelector("dialog[open]") ?? document.body;
    host.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    if (!done) throw new Error("The browser did not allow copying.");
  }
}

class CopyElement extends HTMLElement {
  connectedCallback() {
    if (this.button) return;
    const label = this.getAttribute("label") ?? "text";
    this.button = h("button", { class: this.hasAttribute("wide") ? "button small" : "icon-button small", type: "button",
      title: `Copy ${label}`, on: { click: () => this.run() } });
    this.label = label;
    this.show(false);
    this.append(this.button);
  }

  show(isDone) {
    fill(this.button, icon(isDone ? "check" : "copy"),
      h("span", { class: this.hasAttribute("wide") ? null : "visually-hidden" },
        this.hasAttribute("wide") ? (isDone ? "Copied" : "Copy") : `Copy ${this.label}`));
    if (this.hasAttribute("wide")) this.button.setAttribute("aria-label", `${isDone ? "Copied" : "Copy"}: ${this.label}`);
  }

  async run() {
    try {
      await copy(this.text);
      this.show(true);
      this.button.focus();
      announce(`Copied: ${this.label}`);
      this.dispatchEvent(new CustomEvent("copied", { bubbles: true }));
      setTimeout(() => this.show(false), SAID_FOR_MS);
    } catch (error) {
      announce(error.message);
    }
  }
}

customElements.define("c-copy", CopyElement);

/**
 * @param {string} text what is copied
 * @param {string} label what it is, in words: "API key"
 * @param {{wide?: boolean}} [options] `wide` shows the word "Copy"
 */
export function copyButton(text, label, { wide = false } = {}) {
  const element = h("c-copy", { label, wide });
  element.text = text;
  return element;
}
