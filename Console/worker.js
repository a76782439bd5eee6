// The console's service worker: shows what Carillon sends to this browser, and nothing else. It answers no request of a
// page and keeps nothing, so that a console that was changed is never shown from before.

const ICON = "/console/icon-192.png";

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("push", (event) => event.waitUntil(show(event.data)));
self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data ?? {}));
});

/** Shows a message, whatever is in it: a browser takes the permission away from who shows nothing. */
async function show(message) {
  const content = read(message);
  const data = content.data ?? {};
  await self.registration.showNotification(content.title || "Carillon", {
    body: content.body ?? "",
    tag: content.tag ?? data.notificationId ?? "",
    icon: content.icon ?? ICON,
    badge: ICON,
    data,
  });
  for (const client of await windows()) {
    client.postMessage({ type: "carillon.shown", eventId: data.eventId ?? null, title: content.title ?? "" });
  }
}

/** What the message says; of one that is no JSON object, its text. */
function read(message) {
  if (!message) return {};
  try {
    const content = message.json();
    if (content !== null && typeof content === "object") return content;
  } catch {
    // Not everything that is sent has to be ours.
  }
  return { body: message.text() };
}

/** Brings the console to the front; without one it opens the event. */
async function open({ networkId, eventId }) {
  const [client] = await windows();
  if (client) return client.focus();
  const page = networkId && eventId ? `${encodeURIComponent(networkId)}/events/${encodeURIComponent(eventId)}` : "";
  return self.clients.openWindow(`/console/${page}`);
}

async function windows() {
  const all = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  return all.filter((client) => new URL(client.url).pathname.startsWith("/console"));
}
