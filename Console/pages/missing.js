/**
 * An address that leads nowhere.
 */

import { h } from "../core/dom.js";
import { addressOf } from "../core/router.js";
import { empty } from "../components/empty.js";
import { pageView, section } from "../components/page.js";

export const title = "No such page";

export function render(page) {
  const href = page.network ? page.href("overview") : addressOf();
  return pageView({ title: "No such page" }, section({}, empty({ title: "Nothing is at this address",
    text: "It may be mistyped, or from another version of the console.", picture: "search",
    action: h("a", { class: "button", href }, "Go to the beginning") })));
}
