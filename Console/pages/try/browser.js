/**
 * This browser as a device: the client for web pages, with words for whoever sits in front of the browser where it may refuse.
 */

import * as carillon from "../../carillon.js";

const WORKER = "/console/worker.js";
const SCOPE = "/console/";

/** Why a step did not work, in words (or as a node). */
export class Refusal extends Error {
  /** @param {string|Node} content */
  constructor(content) {
    super(typeof content === "string" ? content : content.textContent);
    this.content = content;
  }
}

const words = {
  insecure: () =>
    "This page came by plain http from another machine. Browsers let only pages be notified that came by https, or from " +
    "this very machine (http://localhost). Open the console there, or put a proxy with a certificate before it.",
  "no-workers": () => "This browser has no service workers here. A private window may be the reason: open a normal one.",
  "no-push": () =>
    "This browser does not take pushes. On an iPhone or iPad, add the console to the Home Screen first and open it there.",
  denied: () =>
    "Notifications of this site are blocked. Allow them in the browser's settings of this site (the symbol beside the " +
    "address), then try again.",
  dismissed: () => "The browser's question was closed without an answer. Try again and choose to allow notifications.",
  worker: (error) => `The browser did not take the service worker: ${error.message}`,
  "worker-late": () => "The service worker did not start. Reload the page and try again.",
  "subscription-denied": () => "The browser does not let this site be notified. Look at its settings of this site.",
  subscription: (error) =>
    `The browser could not subscribe with its push service: ${error.message}. A private window has none; some browsers leave ` +
    "it out or let it be switched off; and a firewall may be in the way.",
};

async function inWords(act) {
  try {
    return await act();
  } catch (error) {
    throw words[error.code] ? new Refusal(words[error.code](error)) : error;
  }
}

/** Throws a refusal when this browser cannot be notified at all. */
export const requireAbility = () => inWords(carillon.requireAbility);

/** Asks for the permission to show notifications. */
export const requirePermission = () => inWords(carillon.requirePermission);

/** The registration of the console's service worker, once that is at work. */
export const requireWorker = () => inWords(() => carillon.startWorker(WORKER, SCOPE));

/** This browser's subscription for a network's key; one that was made for another key is given up. */
export const subscribe = (registration, publicKey) => inWords(() => carillon.subscribe(registration, publicKey));

/** What this browser is registered as. */
export const deviceID = (subscription) => carillon.deviceId(subscription, "console");

/** The subscription for a network's key, or null. A browser has one at a time, and it may be another network's. */
export const subscribed = (publicKey) => carillon.subscribed(SCOPE, publicKey);

/**
 * Listens for what the service worker has shown.
 * @returns {{shown: (eventId: string) => Promise<void>, stop: () => void}}
 */
export function listen() {
  const seen = new Set();
  const waiting = new Map();
  const stop = carillon.onShown(({ eventId }) => {
    seen.add(eventId);
    waiting.get(eventId)?.();
  });
  return {
    shown: (eventId) =>
      new Promise((resolve) => {
        if (seen.has(eventId)) resolve();
        else waiting.set(eventId, resolve);
      }),
    stop,
  };
}
