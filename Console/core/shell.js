/**
 * What surrounds the pages: brand, menu, who is signed in, and what is wrong with the connection.
 */

import { api, pathOf } from "./api.js";
import { connection } from "./connection.js";
import { h, fill } from "./dom.js";
import { duration } from "./format.js";
import { groups } from "./pages.js";
import { addressOf } from "./router.js";
import { session } from "./session.js";
import { icon, bell } from "../components/icon.js";
import { name } from "../components/name.js";

const CLOCK_TOLERANCE_MS = 60_000;
const names = new Map();

/** Builds the frame in `root`. */
export function makeShell(root) {
  let framed = null;
  const banner = h("div", { class: "banner", role: "status" });
  connection.onChange(showConnection);
  showConnection(connection.state);
  root.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !root.classList.contains("menu-open")) return;
    framed.setMenu(false);
    framed.menu.focus();
  });
  // Where there is room the menu is no layer over the page, which it must not hold back.
  matchMedia("(max-width: 800px)").addEventListener("change", () => framed?.setMenu(false));

  function showConnection({ up, clockOffset }) {
    if (!up) {
      fill(banner, icon("warning"), h("span", null, "The service does not answer. What is shown may be old; trying again by itself."));
    } else if (Math.abs(clockOffset) > CLOCK_TOLERANCE_MS) {
      const way = clockOffset > 0 ? "behind" : "ahead of";
      fill(banner, icon("clock"), h("span", null,
        `This computer’s clock is ${duration(Math.abs(clockOffset))} ${way} the service’s. “Ago” is counted by the service’s clock.`));
    } else {
      fill(banner);
    }
    banner.dataset.kind = up ? "info" : "bad";
  }

  function frame() {
    const main = h("main", { id: "main", tabindex: "-1" });
    const links = h("div", { class: "side-links" });
    const place = h("div", { class: "side-network" });
    const nav = h("nav", { class: "side", id: "side", "aria-label": "Console" }, h("div", { class: "side-inner" },
      h("a", { class: "brand", href: addressOf() }, bell(), h("span", null, "Carillon")), place, links, whoIsIn()));
    const content = h("div", { class: "content" }, banner, main);
    const menu = h("button", {
      class: "icon-button menu-button", type: "button", "aria-expanded": "false", "aria-controls": "side",
      on: { click: () => setMenu(menu.getAttribute("aria-expanded") !== "true") },
    }, icon("menu"), h("span", { class: "visually-hidden" }, "Menu"));
    const where = h("span", { class: "topbar-where" });
    const skip = h("a", { class: "skip", href: "#main", on: { click: (event) => {
      event.preventDefault();
      (main.querySelector("h1") ?? main).focus();
    } } }, "Skip to the page");

    function setMenu(isOpen) {
      menu.setAttribute("aria-expanded", String(isOpen));
      root.classList.toggle("menu-open", isOpen);
      content.inert = isOpen;
      if (isOpen) (links.querySelector("[aria-current]") ?? links.querySelector("a"))?.focus();
    }
    fill(root, skip, h("header", { class: "topbar" }, menu, where), h("div", { class: "frame" }, nav, content));
    return { main, links, place, where, menu, setMenu };
  }

  function whoIsIn() {
    const { role } = session.current;
    return h("div", { class: "side-foot" },
      h("span", { class: "muted" }, role === "operator" ? "Signed in as operator" : "Signed in by admin key"),
      h("button", { class: "button quiet small", type: "button", on: { click: () => session.end() } }, icon("leave"), "Sign out"));
  }

  function showNetwork(target) {
    if (framed.network === target.network && framed.links.childElementCount > 0) return;
    framed.network = target.network;
    if (target.network === undefined) {
      fill(framed.place);
      fill(framed.links, link({ href: addressOf(), title: "Networks", key: "networks" }));
      fill(framed.where, "Carillon");
      learnPlacements();
      return;
    }
    const title = h("strong", { class: "network-name" }, name(names.get(target.network) ?? target.network));
    const above = session.current.role === "operator"
      ? h("a", { class: "side-up", href: addressOf() }, icon("back"), "All networks")
      : h("span", { class: "side-up" }, "Network");
    fill(framed.place, above, title);
    fill(framed.where, name(target.network));
    fill(framed.links, groups.map((group) => h("div", { class: "side-group" },
      group.map((page) => link({ href: addressOf(target.network, page.name), title: page.title, key: page.name })))));
    learnName(target.network);
  }

  async function learnPlacements() {
    const frame = framed;
    const isOver = () => frame !== framed || frame.network !== undefined;
    // Not before it is needed: the first page is light.
    const module = await import("./placements.js").catch(() => null);
    if (!(await module?.areSeveral(isOver)) || isOver() || frame.links.childElementCount > 1) return;
    frame.links.append(link({ href: addressOf("placements"), title: "Placements", key: "placements" }));
    markHere();
  }

  async function learnName(network) {
    if (names.has(network)) return;
    try {
      const { data } = await api.get(pathOf("v1", "networks", network));
      rename(network, data.displayName);
    } catch {
      // The page itself says what is wrong with this network.
    }
  }

  function rename(network, displayName) {
    names.set(network, displayName ?? network);
    if (framed?.network === network) fill(framed.place.querySelector(".network-name"), name(names.get(network)));
  }

  function markHere() {
    for (const element of framed.links.querySelectorAll("a")) {
      if (element.dataset.page === framed.here) element.setAttribute("aria-current", "page");
      else element.removeAttribute("aria-current");
    }
  }

  function link({ href, title, key }) {
    return h("a", { href, class: "side-link", dataset: { page: key } }, icon(key), h("span", null, title));
  }

  return {
    rename,
    /** Brings the surroundings that a page wants, and answers the element that it goes into. */
    show(target) {
      if (target.module === "sign-in") {
        framed = null;
        root.classList.remove("menu-open");
        const main = h("main", { id: "main", class: "alone", tabindex: "-1" });
        fill(root, banner, main);
        return main;
      }
      framed ??= frame();
      showNetwork(target);
      framed.setMenu(false);
      framed.here = target.name ?? target.module;
      markHere();
      return framed.main;
    },
  };
}
