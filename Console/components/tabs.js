/**
 * Tabs: one of several views of the same thing.
 */

import { h, fill, uniqueID } from "../core/dom.js";

/**
 * @param {object} what
 * @param {string} what.label what is chosen between
 * @param {Array<{id: string, title: string, render: () => Node}>} what.tabs
 * @param {string} [what.selected] an id; the first one otherwise
 * @param {(id: string) => void} [what.onSelect]
 */
export function tabs({ label, tabs: all, selected, onSelect }) {
  const panelID = uniqueID("panel");
  const panel = h("div", { class: "tab-panel", role: "tabpanel", id: panelID });
  const buttons = all.map((tab) => h("button", { class: "tab", type: "button", role: "tab", id: uniqueID("tab"),
    "aria-controls": panelID, dataset: { tab: tab.id }, on: { click: () => select(tab.id), keydown: onKey } }, tab.title));
  const element = h("div", { class: "tabs" }, h("div", { class: "tab-list", role: "tablist", "aria-label": label }, buttons), panel);

  function onKey(event) {
    const place = buttons.indexOf(event.currentTarget);
    const to = { ArrowRight: place + 1, ArrowLeft: place - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = buttons.at(to % buttons.length);
    select(next.dataset.tab);
    next.focus();
  }

  function select(id, { silent = false } = {}) {
    const tab = all.find((each) => each.id === id) ?? all[0];
    for (const button of buttons) {
      const isChosen = button.dataset.tab === tab.id;
      button.setAttribute("aria-selected", String(isChosen));
      button.tabIndex = isChosen ? 0 : -1;
      if (isChosen) panel.setAttribute("aria-labelledby", button.id);
    }
    fill(panel, tab.render());
    if (!silent) onSelect?.(tab.id);
  }

  select(selected ?? all[0].id, { silent: true });
  element.select = select;
  return element;
}
