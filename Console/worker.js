// The console's service worker: shows what Carillon sends to this browser, and nothing else. It answers no request of a
// page and keeps nothing, so that a console that was changed is never shown from before.

import { showPushes } from "./carillon.js";

const ICON = "/console/icon-192.png";

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
showPushes({
  title: "Carillon",
  icon: ICON,
  badge: ICON,
  // Whatever the console shows stays; without one the event is opened.
  address: ({ networkId, eventId }, current) =>
    current ?? (networkId && eventId ? `${encodeURIComponent(networkId)}/events/${encodeURIComponent(eventId)}` : ""),
});
