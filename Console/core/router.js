/**
 * Addresses and the pages that they open. One page at a time is there; leaving it ends whatever it was waiting for.
 */

import { api, ApiError, isAbort, pathOf, withQuery } from "./api.js";
import { comeBack, connection } from "./connection.js";
import { h, fill } from "./dom.js";
import { live } from "./live.js";
import { pages } from "./pages.js";
import { session } from "./session.js";
import { skeleton } from "../components/empty.js";
import { problem } from "../components/problem.js";
import { toast } from "../components/toast.js";

const BASE = "/console";
const SKELETON_AFTER_MS = 120;
// Whoever is in one network has no use for these.
const OPERATORS = new Set(["networks", "placements"]);

let shell = null;
let visit = null;
let shownAddress = location.pathname + location.search;
let holds = new Set();
let isFirst = true;
let failures = 0;
const sheets = new Map();

/** Where the address bar points: which module with which parameters. */
export function parseAddress(pathname) {
  let segments;
  try {
    segments = pathname.slice(BASE.length).split("/").filter(Boolean).map(decodeURIComponent);
  } catch {
    return { module: "missing", params: {} };
  }
  const [network, name, ...rest] = segments;
  if (network === undefined) return { module: "networks", params: {} };
  // A network of that name has its pages below.
  if (network === "placements" && name === undefined) return { module: "placements", params: {} };
  if (name === undefined) return { redirect: addressOf(network, "overview") };
  const page = pages.get(name);
  const params = { network, id: rest[0], rest };
  if (!page) return { module: "missing", network, params };
  return { module: (rest.length > 0 && page.detail) || name, name, network, params };
}

/** The address of a page: `addressOf("acme", "events", id)`. */
export function addressOf(...segments) {
  return segments.length === 0 ? BASE : `${BASE}${pathOf(...segments)}`;
}

/** Goes to an address of the console. */
export async function navigate(address, { replace = false } = {}) {
  if (!(await mayLeave())) return;
  if (replace) history.replaceState(null, "", address);
  else if (address !== location.pathname + location.search) history.pushState(null, "", address);
  await open();
}

async function mayLeave() {
  if (holds.size === 0) return true;
  const [{ description: reason }] = holds;
  // Not before it is needed: the first page is light.
  const { confirm } = await import("../components/dialog.js");
  const leaves = await confirm({ title: "Leave this page?", text: reason, act: "Leave", stay: "Stay", danger: true });
  if (leaves) holds.clear();
  return leaves;
}

function makePage(target, signal) {
  const { network } = target;
  const held = holds;
  const query = Object.fromEntries(new URLSearchParams(location.search));
  return {
    network,
    params: target.params,
    query,
    api,
    signal,
    role: session.current?.role,
    /** The path of the API below this network: `page.path("events", id)`. */
    path: (...segments) => pathOf("v1", "networks", network, ...segments),
    /** The address of another page of this network: `page.href("events", id)`. */
    href: (...segments) => addressOf(network, ...segments),
    navigate,
    /** Tells the menu what the network is called now. */
    renamed: (displayName) => shell.rename(network, displayName),
    /** Writes into the address without opening anything: filters survive a reload. */
    setQuery(changes, { push = false } = {}) {
      for (const [key, value] of Object.entries(changes)) {
        if (value === null || value === undefined || value === "") delete query[key];
        else query[key] = String(value);
      }
      const address = withQuery(location.pathname, query);
      if (push) history.pushState(null, "", address);
      else history.replaceState(null, "", address);
      shownAddress = address;
    },
    /** Polls while the page is there and seen; says what ends it, unless the page does. */
    live(run, ms, options = {}) {
      const onError = (error) => {
        if (error.isPassing) return;
        const said = toast(problem(error, { compact: true, retry: () => {
          said.close();
          watch.now();
        } }), { kind: "bad", seconds: 15 });
      };
      const watch = live(run, ms, { signal, onError, ...options });
      return watch;
    },
    /** Asks before the page is left; call what it returns when that is over. */
    hold(reason) {
      const hold = Symbol(reason);
      held.add(hold);
      return () => held.delete(hold);
    },
  };
}

/** Browsers remember that a module could not be loaded: only loading the console anew asks for it again. */
class Unloaded extends ApiError {
  constructor(cause) {
    super({ status: 0, offline: true });
    this.cause = cause;
  }
}

async function loadModule(name) {
  try {
    return await import(`../pages/${name}.js`);
  } catch (error) {
    // Whatever else goes wrong in a module is a mistake of its own.
    if (!(error instanceof TypeError)) throw error;
    console.error(error);
    connection.check();
    throw new Unloaded(error);
  }
}

/** Loads the sheets of a page. What it answers puts them, and only them, to work: no page's sheet reaches into another page. */
async function loadStyles(names = []) {
  await Promise.all(names.map((name) => new Promise((resolve, reject) => {
    if (sheets.has(name)) return resolve();
    const link = h("link", { rel: "stylesheet", href: `/console/style/${name}.css`, on: { load: resolve, error: () => {
      sheets.delete(name);
      link.remove();
      connection.check();
      reject(new Unloaded(new Error(`${name}.css could not be loaded`)));
    } } });
    sheets.set(name, link);
    document.head.append(link);
  })));
  return () => {
    for (const [name, link] of sheets) link.disabled = !names.includes(name);
  };
}

/**
 * Opens what the address says.
 * @param {{byItself?: boolean}} [options] whether nobody asked for it: then the focus stays where somebody has put it meanwhile
 */
export async function open({ byItself = false } = {}) {
  visit?.abort();
  // Those of the page that is left; a secret that is shown once stays.
  document.querySelectorAll("dialog[open]:not([data-stays])").forEach((dialog) => dialog.close());
  if (!byItself) failures = 0;
  const controller = new AbortController();
  visit = controller;
  holds = new Set();
  const { signal } = controller;
  const wasFirst = isFirst;
  isFirst = false;
  shownAddress = location.pathname + location.search;

  const target = session.current ? parseAddress(location.pathname) : { module: "sign-in", params: {} };
  if (OPERATORS.has(target.module) && session.current.network) target.redirect = addressOf(session.current.network, "overview");
  if (target.redirect) return navigate(target.redirect, { replace: true });
  const main = shell.show(target);
  const page = makePage(target, signal);
  const title = pages.get(target.name)?.title;
  const waiting = setTimeout(() => fill(main, waitingPage(title)), wasFirst ? 0 : SKELETON_AFTER_MS);
  // Whoever goes on before that has the next page there.
  signal.addEventListener("abort", () => clearTimeout(waiting), { once: true });
  try {
    const module = await loadModule(target.module);
    const useStyles = await loadStyles(module.styles);
    const node = await module.render(page);
    if (signal.aborted) return;
    clearTimeout(waiting);
    useStyles();
    const mayMove = !byItself || isInPage(main);
    fill(main, node);
    failures = 0;
    const name = typeof module.title === "function" ? module.title(page) : module.title;
    document.title = [name, target.network, "Carillon"].filter(Boolean).join(" · ");
    if (mayMove) arrive(main, wasFirst);
  } catch (error) {
    clearTimeout(waiting);
    if (signal.aborted || isAbort(error)) return;
    if (error.name !== "ApiError") console.error(error);
    document.title = [title, target.network, "Carillon"].filter(Boolean).join(" · ");
    const mayMove = !byItself || isInPage(main);
    const again = (options) => (error instanceof Unloaded ? location.reload() : open(options));
    fill(main, h("div", { class: "page" },
      h("header", { class: "page-head" }, h("h1", null, title ?? "Carillon")),
      problem(error, { retry: () => again() }),
      error.isPassing && h("p", { class: "muted" }, "This page comes back by itself.")));
    if (mayMove) arrive(main, wasFirst);
    failures += 1;
    signal.addEventListener("abort", comeBack(error, () => again({ byItself: true }), failures), { once: true });
  }
}

/** Whether the focus is in the page, or nowhere. */
function isInPage(main) {
  return main.contains(document.activeElement) || document.activeElement === document.body;
}

function waitingPage(title) {
  return h("div", { class: "page", "aria-busy": "true" },
    h("header", { class: "page-head" }, h("h1", null, title ?? "\u00a0")), skeleton(6));
}

function arrive(main, wasFirst) {
  const heading = main.querySelector("h1");
  const wanted = main.querySelector("[data-autofocus]");
  if (heading) heading.tabIndex = -1;
  if (!wasFirst) window.scrollTo(0, 0);
  (wanted ?? heading ?? main).focus({ preventScroll: true });
}

function onClick(event) {
  const link = event.target.closest?.("a[href]");
  if (!link || event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  if (link.target || link.hasAttribute("download") || link.origin !== location.origin) return;
  if (link.pathname !== BASE && !link.pathname.startsWith(`${BASE}/`)) return;
  event.preventDefault();
  navigate(link.pathname + link.search);
}

async function onPopState() {
  const wanted = location.pathname + location.search;
  if (wanted === shownAddress) return;
  if (holds.size > 0) {
    history.pushState(null, "", shownAddress);
    return navigate(wanted);
  }
  await open();
}

/** Starts the router. `frame.show(target)` brings the right surroundings and answers the element for the page. */
export function start(frame) {
  shell = frame;
  document.addEventListener("click", onClick);
  window.addEventListener("popstate", onPopState);
  window.addEventListener("beforeunload", (event) => {
    if (holds.size > 0) event.preventDefault();
  });
  session.onChange(() => {
    holds.clear();
    open();
  });
  open();
}
