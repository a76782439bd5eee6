/**
 * Why a delivery ended or waits: the service's own reason, and what it means in words where that is known.
 */

import { h } from "../core/dom.js";
import { name } from "./name.js";

/** What no credential can help with: the way to the push service, and its pace. Requests for access tokens say it, too. */
const OF_THE_WAY = [
  [/name not found$/, "No name server knows this host: the service’s name servers, or the address, are wrong."],
  [/name lookup failed$/, "The name servers did not answer."],
  [/tls failed$/, "No safe connection came about: its certificate is not trusted, or a proxy is in between."],
  [/unreachable$/, "No connection came about: a firewall may be in the way."],
  [/blocked address$/, "The address is none that may be reached: see CARILLON_EGRESS_ALLOW."],
  [/malformed answer$|answer too long$/, "What answered is no push service: a proxy may be in between."],
  [/too many requests waiting$/, "Too many requests wait for the same host."],
  [/TooMany|QUOTA_EXCEEDED|RESOURCE_EXHAUSTED|http 429/, "The push service asks for a slower pace."],
  [/http 5\d\d|InternalServerError|ServiceUnavailable|Shutdown|UNAVAILABLE|INTERNAL/, "The server failed; it is tried again until it expires."],
  [/timed? ?out|timeout/i, "There was no answer in time."],
  [/connection|connect|refused$|reset/i, "The server could not be reached."],
];

const MEANINGS = [
  [/^withdrawn$/, "Somebody withdrew it before it was sent."],
  [/^not delivered in time$/, "Its time was over before it could be sent."],
  [/^payload too large$/, "It does not fit into what the push service takes, even when cut."],
  [/^sent once: /, "It was to be tried only once, and that failed."],
  [/^brake: /, "Too many devices are reported as gone to be believed: reports are held until somebody looks."],
  [/^no credential for /, "Waits until a credential for this app is stored under Providers."],
  [/^no subject for /, "Waits until Web Push has a subject under Providers."],
  [/^no signing secret$/, "Waits until webhooks have a signing secret under Providers."],
  [/^credential not readable$|^certificate cannot be used$|^provider token not available$/, "The stored credential cannot be used just now."],
  [/^crash loop$/, "The service ended several times while it was sending this, and gave it up."],
  [/^network: /, "A switch of the network stopped it before it was sent."],
  [/^user: /, "A switch of the user stopped it before it was sent."],
  [/^channel: /, "A switch of the user for this channel stopped it before it was sent."],
  [/Unregistered|UNREGISTERED|ExpiredToken|^http 410|^http 404/, "The push service says that this device is gone."],
  [/BadDeviceToken|InvalidToken|DeviceTokenNotForTopic|INVALID_ARGUMENT message\.token/, "The token is wrong, or belongs to another app or environment."],
  [/another key/, "The browser subscribed with another key than ours."],
  [/SENDER_ID_MISMATCH/, "The token belongs to another Firebase project."],
  [/TopicDisallowed|BadTopic|MissingTopic/, "The credential may not send to this app."],
  [/UNAUTHENTICATED|PERMISSION_DENIED|InvalidProviderToken|BadCertificate|Forbidden|THIRD_PARTY_AUTH_ERROR/, "The push service does not accept the credential."],
  [/^http 3\d\d/, "The server answered with a redirection, which is never followed."],
  ...OF_THE_WAY,
];

/** Whether another credential would change nothing. @param {string|null} reason */
export function isOfTheWay(reason) {
  return OF_THE_WAY.some(([pattern]) => pattern.test(reason ?? ""));
}

/** What a reason means, or null. @param {string|null} reason */
export function meaningOf(reason) {
  return MEANINGS.find(([pattern]) => pattern.test(reason ?? ""))?.[1] ?? null;
}

/**
 * @param {string|null} reason
 * @param {{longest?: number}} [options]
 */
export function reasonView(reason, { longest = 160 } = {}) {
  if (!reason) return h("span", { class: "muted" }, "–");
  const meaning = meaningOf(reason);
  return h("div", { class: "reason" }, meaning && h("div", null, meaning), h("div", { class: meaning && "muted small" }, name(reason, { longest })));
}
