/**
 * Carillon in a web page: this browser as a device of the signed-in user, what the user wants to be told, and the service
 * worker that shows what comes. One module without dependencies: the page imports `Carillon`, the worker `showPushes`.
 */

const READY_MS = 10_000;
const ANSWER_MS = 10_000;
const CALL_MS = 30_000;
const ATTEMPTS = 4;
const TAKEN_MS = 1_000;
const PASSING = [408, 429, 502, 503, 504];

/** Why something did not work: `code` says which, `problem`, `status` and `requestId` are the service's own words. */
export class CarillonError extends Error {
  constructor(code, message, { status = null, problem = null, requestId = null, retryAfter = null, cause } = {}) {
    super(message, { cause });
    Object.assign(this, { name: "CarillonError", code, status, problem, requestId, retryAfter });
  }
}

/** One network of a service, for one signed-in user. */
export class Carillon {
  #base;
  #ask;
  #token = null;

  /** `token` is asked for a user token when one is needed first, and again when the service has refused the last one. */
  constructor({ url = location.origin, network, token }) {
    this.network = network;
    this.#base = `${String(url).replace(/\/+$/, "")}/v1/networks/${encodeURIComponent(network)}`;
    this.#ask = token;
  }

  /**
   * Makes this browser a device of the user; asks for the permission where nobody has been asked. Call it from a click, and
   * where `isRegistered()` at each start: subscriptions change, and whoever signs in next takes the browser over.
   */
  async register({ worker, scope, key, locale = navigator.language } = {}) {
    requireAbility();
    await requirePermission();
    const registration = await startWorker(worker, scope);
    const publicKey = key ?? (await this.#call("GET", ["providers", "webpush", "key"])).publicKey;
    const subscription = await subscribe(registration, publicKey);
    const { endpoint, keys } = subscription.toJSON();
    const device = { provider: "webpush", subscription: { endpoint, keys }, locale };
    return this.#call("PUT", ["devices", await deviceId(subscription)], device);
  }

  /** Whether this browser is subscribed and may be notified, so that `register` asks nothing. */
  async isRegistered(scope) {
    return globalThis.Notification?.permission === "granted" && (await subscribed(scope)) !== null;
  }

  /** This browser gets nothing more, at once and even where the service cannot be reached. */
  async unregister(scope) {
    const subscription = await subscribed(scope);
    await clear({ network: this.network, scope });
    if (!subscription) return;
    const id = await deviceId(subscription);
    // A push service calls such a subscription gone, and Carillon believes that, if it should hear of nothing else.
    await subscription.unsubscribe();
    await this.#call("DELETE", ["devices", id]);
  }

  /** What is to be done before the user's session ends: the next user of this computer sees nothing of it. */
  async signOut(scope) {
    try {
      await this.unregister(scope);
    } finally {
      this.forgetToken();
    }
  }

  forgetToken() {
    this.#token = null;
  }

  /** All devices of the user. */
  async devices() {
    return (await this.#call("GET", ["users", "me", "devices"])).items;
  }

  /** What the user has chosen for everything. */
  settings() {
    return this.#call("GET", ["users", "me", "notifications"]);
  }

  /** Changes what is named and leaves the rest: `{modules: {chat: {enabled: false}}}`; `null` takes a choice back. */
  change(settings) {
    return this.#call("PATCH", ["users", "me", "notifications"], settings);
  }

  /** What the user has chosen for a channel. */
  channel(id) {
    const path = ["users", "me", "channels", id, "notifications"];
    const change = (settings) => this.#call("PATCH", path, settings);
    return {
      settings: () => this.#call("GET", path),
      change,
      mute: (until) => change({ mutedUntil: until.toISOString() }),
      unmute: () => change({ mutedUntil: null }),
    };
  }

  async #currentToken() {
    return (this.#token ??= await this.#ask());
  }

  /** Asks until there is an answer that says something: all that this module asks for can be done twice. */
  async #call(method, path, body) {
    const end = Date.now() + CALL_MS;
    let renewed = false;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#attempt(method, path, body);
      } catch (error) {
        if (error.status === 401 && !renewed) {
          renewed = true;
          this.forgetToken();
          continue;
        }
        const wait = (error.retryAfter ?? 2 ** (attempt - 2)) * 1000;
        const passes = error.code === "no-answer" || PASSING.includes(error.status);
        if (!passes || attempt >= ATTEMPTS || Date.now() + wait > end) throw error;
        await new Promise((resolve) => setTimeout(resolve, wait));
      }
    }
  }

  async #attempt(method, path, body) {
    const headers = { authorization: `Bearer ${await this.#currentToken()}` };
    if (body !== undefined) headers["content-type"] = "application/json";
    const address = [this.#base, ...path.map(encodeURIComponent)].join("/");
    let answer, text;
    try {
      const signal = AbortSignal.timeout(ANSWER_MS);
      answer = await fetch(address, { method, headers, body: JSON.stringify(body), signal, credentials: "omit", redirect: "error" });
      text = await answer.text();
    } catch (cause) {
      throw new CarillonError("no-answer", `The service cannot be reached: ${cause.message}`, { cause });
    }
    const document = parse(text);
    if (answer.ok) return document;
    const retryAfter = Number.parseInt(answer.headers.get("retry-after"), 10);
    const code = document?.type?.split("/").pop() ?? "refused";
    throw new CarillonError(code, document?.detail ?? document?.title ?? `Status ${answer.status}`, {
      status: answer.status,
      problem: document,
      requestId: answer.headers.get("x-request-id"),
      retryAfter: Number.isNaN(retryAfter) ? null : retryAfter,
    });
  }
}

/** Throws where this browser cannot be notified at all: `insecure`, `no-workers`, `no-push`. */
export function requireAbility() {
  if (!globalThis.isSecureContext) throw new CarillonError("insecure", "Only pages that came by https can be notified.");
  if (!("serviceWorker" in navigator)) throw new CarillonError("no-workers", "This browser has no service workers here.");
  if (!("PushManager" in globalThis) || !("Notification" in globalThis)) {
    throw new CarillonError("no-push", "This browser takes no pushes; on an iPhone or iPad only pages on the Home Screen do.");
  }
}

/** Asks for the permission to show notifications; throws `denied` or `dismissed`. */
export async function requirePermission() {
  const answer = Notification.permission === "default" ? await Notification.requestPermission() : Notification.permission;
  if (answer === "granted") return;
  if (answer === "denied") throw new CarillonError("denied", "Notifications of this site are blocked in the browser's settings.");
  throw new CarillonError("dismissed", "The browser's question was closed without an answer.");
}

/** The registration of a service worker, which is a module, once it is at work; throws `worker` or `worker-late`. */
export async function startWorker(url, scope) {
  let registration;
  try {
    registration = await navigator.serviceWorker.register(url, { type: "module", scope });
  } catch (cause) {
    throw new CarillonError("worker", cause.message, { cause });
  }
  const late = new Promise((resolve) => setTimeout(resolve, READY_MS));
  if (await Promise.race([active(registration), late])) return registration;
  throw new CarillonError("worker-late", "The service worker did not start.");
}

async function active(registration) {
  const worker = registration.active ?? registration.waiting ?? registration.installing;
  while (worker.state !== "activated") {
    if (worker.state === "redundant") return false;
    await new Promise((resolve) => worker.addEventListener("statechange", resolve, { once: true }));
  }
  return true;
}

/** This browser's subscription for a network's key; one that was made for another key is given up. */
export async function subscribe(registration, publicKey) {
  const former = await registration.pushManager.getSubscription();
  if (former && !hasKey(former, publicKey)) await former.unsubscribe();
  try {
    return await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytes(publicKey) });
  } catch (cause) {
    throw new CarillonError(cause.name === "NotAllowedError" ? "subscription-denied" : "subscription", cause.message, { cause });
  }
}

/** The subscription that there is, or null; with a key only one that was made for it. */
export async function subscribed(scope, publicKey = null) {
  const registration = await navigator.serviceWorker?.getRegistration(scope);
  const subscription = await registration?.pushManager?.getSubscription();
  return subscription && (publicKey === null || hasKey(subscription, publicKey)) ? subscription : null;
}

/** What a subscription is registered as: the same for the same one, so that trying again makes no second device. */
export async function deviceId(subscription, prefix = "web") {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(subscription.endpoint));
  return `${prefix}-${encode(digest).replace(/[-_]/g, "").slice(0, 16)}`;
}

/** Takes notifications off the screen: a channel's, which the user has opened, or all of a network. */
export async function clear({ network, channel, scope } = {}) {
  const registration = await navigator.serviceWorker?.getRegistration(scope);
  for (const shown of (await registration?.getNotifications()) ?? []) {
    const { networkId, channelId } = shown.data ?? {};
    if ((network ?? networkId) === networkId && (channel ?? channelId) === channelId) shown.close();
  }
}

/** Tells the page what the worker shows, while it is open. Answers a function that ends that. */
export function onShown(handler) {
  return hear("carillon.shown", ({ data }) => handler(data.notification));
}

/** Tells the page what was tapped, so that it goes there without being loaded anew. Answers a function that ends that. */
export function onTap(handler) {
  return hear("carillon.tapped", ({ data, ports }) => {
    ports[0]?.postMessage("taken");
    handler(data.notification);
  });
}

function hear(type, handler) {
  const listener = (event) => event.data?.type === type && handler(event);
  navigator.serviceWorker?.addEventListener("message", listener);
  return () => navigator.serviceWorker?.removeEventListener("message", listener);
}

/**
 * In a service worker: shows what comes, and opens what is tapped. Call it once, at the top level.
 *
 * `address(notification, current)` says which page shows it, `current` being the one that is open; `group(notification)` names
 * what shares one place on the screen; `compose(notification, count)` may change what is shown of it.
 */
export function showPushes({ title = "", icon, badge, group, compose, address } = {}) {
  const options = { title, icon, badge, group, compose, address };
  self.addEventListener("push", (event) => event.waitUntil(show(event.data, options)));
  self.addEventListener("notificationclick", (event) => {
    event.notification.close();
    event.waitUntil(open(event.notification.data ?? {}, options));
  });
}

/** Shows a message, whatever is in it: a browser takes the permission away from who shows nothing. */
async function show(message, { title, icon, badge, group, compose }) {
  const { data = {}, ...content } = read(message);
  const notification = { ...data, title: content.title || title, body: content.body ?? "" };
  const common = group?.(notification) ?? null;
  const [former] = common === null ? [] : await self.registration.getNotifications({ tag: common });
  const isRepeated = former !== undefined && former.data?.notificationId === data.notificationId;
  const count = (former?.data?.count ?? 0) + (isRepeated ? 0 : 1);
  const tag = common ?? content.tag ?? data.notificationId ?? "";
  // A copy replaces its original silently; what is new in a group is heard.
  const renotify = former !== undefined && !isRepeated;
  const plain = { body: notification.body, tag, renotify, icon, badge, data: { ...data, count } };
  const composed = { ...content, ...plain, icon: content.icon ?? icon, ...compose?.(notification, count) };
  await self.registration.showNotification(composed.title || title, composed)
    .catch(() => self.registration.showNotification(notification.title, plain));
  if (Number.isInteger(data.badge)) await navigator.setAppBadge?.(data.badge);
  for (const client of await windows()) client.postMessage({ type: "carillon.shown", notification });
}

/** What the message says; of one that is no JSON object, its text. */
function read(message) {
  const text = message?.text() ?? "";
  const content = parse(text);
  return content !== null && typeof content === "object" ? content : { body: text };
}

/** Brings the app to the front where the notification is: by itself, or by going there; without a window it opens one. */
async function open(notification, { address }) {
  const [client] = await windows();
  const target = new URL(address?.(notification, client?.url) ?? "", self.registration.scope).href;
  if (!client) return self.clients.openWindow(target);
  await client.focus();
  if (await isTaken(client, { type: "carillon.tapped", notification }) || client.url === target) return null;
  // Only a page that the worker controls can be sent elsewhere by it.
  return client.navigate(target).catch(() => self.clients.openWindow(target));
}

function isTaken(client, message) {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = () => resolve(true);
    setTimeout(() => resolve(false), TAKEN_MS);
    client.postMessage(message, [port2]);
  });
}

async function windows() {
  const all = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  // A page may stand at the scope itself, without its last slash.
  return all.filter(({ url }) => `${url.split(/[?#]/, 1)[0]}/`.startsWith(self.registration.scope));
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
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
