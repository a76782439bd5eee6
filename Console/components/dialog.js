/**
 * Questions that must be answered first: the browser's own `<dialog>`, with the focus where it belongs.
 */

import { h, fill, uniqueID } from "../core/dom.js";
import { isAbort } from "../core/api.js";
import { icon } from "./icon.js";
import { problem } from "./problem.js";

/**
 * Opens a dialog.
 * @param {object} what
 * @param {string|Node} what.title
 * @param {Node|string|Array} what.body
 * @param {Array<{label: string, value?: any, kind?: "primary"|"danger"|"quiet", run?: () => any, disabled?: boolean}>} what.actions
 *   `run` may be async: the dialog stays while it works, shows what it throws, and closes with what it returns (`false` keeps
 *   it open). Without `run` it closes with `value`.
 * @param {boolean} [what.dismissable] whether Escape, the cross and leaving the page close it (with `undefined`); true unless
 *   said otherwise
 * @param {boolean} [what.wide]
 * @param {(element: HTMLDialogElement, buttons: HTMLButtonElement[]) => void} [what.onOpen]
 * @returns {Promise<any>}
 */
export function openDialog({ title, body, actions, dismissable = true, wide = false, onOpen }) {
  return new Promise((resolve) => {
    const titleID = uniqueID("dialog");
    const formID = `${titleID}-form`;
    const trouble = h("div", { class: "dialog-trouble" });
    const before = document.activeElement;
    let result;
    let isBusy = false;

    function finish(value) {
      result = value;
      element.close();
    }

    async function act(action, button) {
      // What is under way may make something that is shown once: nothing closes over it.
      if (isBusy) return;
      if (!action.run) return finish(action.value);
      isBusy = true;
      button.setAttribute("aria-busy", "true");
      fill(trouble);
      try {
        const value = await action.run();
        if (value !== false) finish(value ?? action.value ?? true);
      } catch (error) {
        if (isAbort(error)) return finish(undefined);
        fill(trouble, problem(error, { compact: true }));
      } finally {
        isBusy = false;
        button.removeAttribute("aria-busy");
      }
    }

    const buttons = actions.map((action) => {
      const button = h("button", { class: ["button", action.kind], type: "button", disabled: action.disabled,
        on: { click: () => button.type === "button" && act(action, button) } }, action.label);
      return button;
    });
    const element = h("dialog", { class: ["dialog", wide && "wide"], dataset: { stays: !dismissable }, "aria-labelledby": titleID,
      on: {
        cancel: (event) => {
          if (!dismissable || isBusy) event.preventDefault();
        },
        // Chromium closes on the second Escape whatever `cancel` says; this keeps what must be kept.
        keydown: (event) => {
          if (event.key === "Escape" && (!dismissable || isBusy)) event.preventDefault();
        },
        close: () => {
          element.remove();
          // What opened it may have gone with what was done.
          (before?.isConnected ? before : document.querySelector("main h1"))?.focus?.({ preventScroll: true });
          resolve(result);
        },
        submit: (event) => {
          event.preventDefault();
          if (event.target.getAttribute("id") === formID) act(actions.at(-1), buttons.at(-1));
        },
      } },
    h("header", { class: "dialog-head" }, h("h2", { id: titleID }, title),
      dismissable && h("button", { class: "icon-button", type: "button", on: { click: () => isBusy || finish(undefined) } },
        icon("close"), h("span", { class: "visually-hidden" }, "Close"))),
    h("div", { class: "dialog-body" }, body, trouble),
    h("footer", { class: "dialog-foot" }, buttons));
    const inner = element.querySelector(".dialog-body form");
    if (inner && !inner.querySelector("[type=submit]")) {
      // Enter in a field is then the last button, as in any form. By attribute: a field named "id" hides the property.
      inner.setAttribute("id", formID);
      buttons.at(-1).type = "submit";
      buttons.at(-1).setAttribute("form", formID);
    }
    document.body.append(element);
    element.showModal();
    const harmless = buttons.find((_, index) => actions[index].kind !== "danger") ?? buttons.at(-1);
    (element.querySelector("[data-autofocus]") ?? element.querySelector(".dialog-body input, .dialog-body select, .dialog-body textarea")
      ?? (actions.at(-1).kind === "danger" ? harmless : buttons.at(-1)))?.focus();
    onOpen?.(element, buttons);
  });
}

/**
 * Asks before something is done that cannot be taken back.
 * @returns {Promise<boolean>}
 */
export async function confirm({ title, text, act, stay = "Cancel", danger = false }) {
  const answer = await openDialog({ title, body: typeof text === "string" ? h("p", null, text) : text, actions: [
    { label: stay, value: false, kind: "quiet" },
    { label: act, value: true, kind: danger ? "danger" : "primary" },
  ] });
  return answer === true;
}
