/**
 * An endpoint in two words.
 */

import { badge, stateBadge } from "../../components/badge.js";

/** What an endpoint is to do, in a word. */
export function modeBadge(mode) {
  return badge(mode === "observe" ? "Observes" : "Is asked", mode === "observe" ? "neutral" : "info");
}

/** Whether it is in use, and whether it answers. */
export function endpointState(endpoint) {
  return endpoint.state === "enabled" && endpoint.circuit === "open" ? badge("Does not answer", "bad") : stateBadge(endpoint.state);
}
