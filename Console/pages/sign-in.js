/**
 * Signing in: an operator token or an admin key, asked of the API itself whether it is one.
 */

import { ApiError } from "../core/api.js";
import { h } from "../core/dom.js";
import { addressOf, navigate } from "../core/router.js";
import { session } from "../core/session.js";
import { bell } from "../components/icon.js";
import { field, form } from "../components/field.js";
import { copyButton } from "../components/copy.js";
import { name } from "../components/name.js";

export const title = "Sign in";

const ROLES = {
  device: "This key ships inside apps",
  events: "This key is for posting events",
  notify: "This key is for sending notifications",
  user: "This is a user’s token",
};

function reasonFor(farewell) {
  if (!farewell) return null;
  return h("div", { class: "sign-in-reason", role: "status" },
    h("p", null, h("strong", null, "You were signed out. "), "The service does not accept this key any more: it may have been revoked."),
    h("p", { class: "muted small" }, "It says: ", name(farewell.title, { longest: 300 })),
    farewell.requestId && h("p", { class: "muted small request-id" }, "Request ", h("code", null, farewell.requestId),
      copyButton(farewell.requestId, "request id")),
    h("p", { class: "muted small" }, "Sign in again and you are back where you were."));
}

export function render({ api, signal }) {
  const key = field({ label: "Key", name: "key", type: "password", required: true, autocomplete: "off",
    autocapitalize: "off", mono: true, maxlength: "4096", autofocus: true, pointer: "",
    hint: "The operator token, or an API key with role admin." });

  async function signIn() {
    const token = key.value.trim();
    if (!/^[\x21-\x7e]+$/.test(token)) {
      key.setError("A key has letters, digits and signs only.");
      key.input.focus();
      return;
    }
    try {
      const { data } = await api.get("/v1/whoami", { token, signal });
      if (data.role !== "operator" && data.role !== "admin") {
        key.setError(`${ROLES[data.role] ?? "This key is for something else"}; the console needs an admin key or the operator token.`);
        key.input.focus();
        return;
      }
      const mayStay = data.role === "operator" || location.pathname.startsWith(`${addressOf(data.network)}/`);
      // The page behind this address opens by itself once somebody is signed in.
      if (!mayStay) history.replaceState(null, "", addressOf(data.network, "overview"));
      session.begin({ token, role: data.role, network: data.network });
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401) throw error;
      key.setError("The service does not know this key.");
      key.input.select();
    }
  }

  return h("div", { class: "page" },
    h("a", { class: "brand", href: addressOf(), on: { click: (event) => {
      event.preventDefault();
      navigate(addressOf());
    } } }, bell(), h("span", null, "Carillon")),
    h("h1", null, "Sign in"),
    reasonFor(session.farewell),
    h("div", { class: "card sign-in" }, h("div", { class: "card-body" }, form({ submit: "Sign in", onSubmit: signIn, body: [key] }))),
    h("p", { class: "muted small" }, "The key stays in this tab and is forgotten when it is closed. ",
      "A service that runs PostgreSQL itself keeps the operator token in ", h("code", null, ".carillon/operator-token"),
      ", the package in ", h("code", null, "/var/lib/carillon/operator-token"), "; its log says where at the start."));
}
