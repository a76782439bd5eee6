/**
 * This browser as a device: what it needs before it can be notified, and why it may refuse.
 */

const WORKER = "/console/worker.js";
const SCOPE = "/console/";
const READY_MS = 10_000;

/** Why a step did not work, in words (or as a node) for whoever sits in front of the browser. */
export class Refusal extends Error {
  /** @param {string|Node} content */
  constructor(content) {
    super(typeof content === "string" ? content : content.textContent);
    this.content = content;
  }
}

/** Throws a refusal when this browser cannot be notified at all. */
export function requireAbility() {
  if (!window.isSecureContext) {
    throw new Refusal(
      "This page came by plain http from another machine. Browsers let only pages be notified that came by https, or from " +
        "this very machine (http://localhost). Open the console there, or put a proxy with a certificate before it.",
    );
  }
  if (!("serviceWorker" in navigator)) {
    throw new Refusal("This browser has no service workers here. A private window may be the reason: open a normal one.");
  }
  if (!("PushManager" in window) || !("Notification" in window)) {
    throw new Refusal(
      "This browser does not take pushes. On an iPhone or iPad, add the console to the Home Screen first and open it there.",
    );
  }
}

/** Asks for the permission to show notifications. */
export async function requirePermission() {
  const answer = Notification.permission === "default" ? await Notification.requestPermission() : Notification.permission;
  if (answer === "granted") return;
  throw new Refusal(
    answer === "denied"
      ? "Notifications of this site are blocked. Allow them in the browser's settings of this site (the symbol beside the " +
        "address), then try again."
      : "The browser's question was closed without an answer. Try again and choose to allow notifications.",
  );
}

/** The registration of the console's service worker, once that is at work. */
export async function requireWorker() {
  let registration;
  try {
    registration = await navigator.serviceWorker.register(WORKER, { scope: SCOPE });
  } catch (error) {
    throw new Refusal(`The browser did not take the service worker: ${error.message}`);
  }
  const late = new Promise((resolve) => setTimeout(resolve, READY_MS));
  if (await Promise.race([navigator.serviceWorker.ready, late])) return registration;
  throw new Refusal("The service worker did not start. Reload the page and try again.");
}

/** This browser's subscription for a network's key; one that was made for another key is given up. */
export async function subscribe(registration, publicKey) {
  const former = await registration.pushManager.getSubscription();
  if (former && !hasKey(former, publicKey)) await former.unsubscribe();
  try {
    return await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytes(publicKey) });
  } catch (error) {
    throw new Refusal(refusedSubscription(error));
  }
}

function refusedSubscription(error) {
  if (error.name === "NotAllowedError") return "The browser does not let this site be notified. Look at its settings of this site.";
  return (
    `The browser could not subscribe with its push service: ${error.message}. A private window has none; some browsers leave ` +
    "it out or let it be switched off; and a firewall may be in the way."
  );
}

function hasKey(subscription, publicKey) {
  const key = subscription.options?.applicationServerKey;
  return key ? encode(key) === publicKey.replace(/=+$/, "") : true;
}

function bytes(text) {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

function encode(buffer) {
  const text = btoa(String.fromCharCode(...new Uint8Array(buffer)));
  return text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** What this browser is registered as: the same for the same subscription, so that trying again makes no second device. */
export async function deviceID(subscription) {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(subscription.endpoint));
  return `console-${encode(digest).replace(/[-_]/g, "").slice(0, 16)}`;
}

/**
 * Listens for what the service worker has shown.
 * @returns {{shown: (eventId: string, ms: number) => Promise<boolean>, stop: () => void}}
 */
export function listen() {
  const seen = new Set();
  const waiting = new Map();
  const hear = ({ data }) => {
    if (data?.type !== "carillon.shown") return;
    seen.add(data.eventId);
    waiting.get(data.eventId)?.(true);
  };
  navigator.serviceWorker.addEventListener("message", hear);
  return {
    shown: (eventId, ms) =>
      new Promise((resolve) => {
        if (seen.has(eventId)) return resolve(true);
        waiting.set(eventId, resolve);
        setTimeout(() => resolve(false), ms);
      }),
    stop: () => navigator.serviceWorker.removeEventListener("message", hear),
  };
}

/** The subscription for a network's key, or null. A browser has one at a time, and it may be another network's. */
export async function subscribed(publicKey) {
  const registration = await navigator.serviceWorker?.getRegistration(SCOPE);
  const subscription = await registration?.pushManager.getSubscription();
  return subscription && hasKey(subscription, publicKey) ? subscription : null;
}
