/**
 * An error as the API says it, with the id by which the service's log knows it.
 */

import { h } from "../core/dom.js";
import { ApiError } from "../core/api.js";
import { copyButton } from "./copy.js";
import { icon } from "./icon.js";
import { name } from "./name.js";

function words(error) {
  if (!(error instanceof ApiError)) {
    return { title: "Something went wrong in the console itself", detail: String(error?.message ?? error), errors: [] };
  }
  if (error.offline) {
    return { title: "The service does not answer", detail: "It may be restarting, or this computer is offline.", errors: [] };
  }
  const { title, detail, errors = [], outcome } = error.problem ?? {};
  const said = [detail, outcome === "unknown" && "Whether it was done is not known.",
    outcome === "nothing changed" && "Nothing was changed."].filter(Boolean).join(" ");
  return { title: title ?? `The service answered ${error.status}`, detail: said, errors };
}

/**
 * @param {Error} error
 * @param {{retry?: () => void, compact?: boolean}} [options]
 */
export function problem(error, { retry, compact = false } = {}) {
  const { title, detail, errors } = words(error);
  const status = error instanceof ApiError && error.status ? ` (${error.status})` : "";
  return h("div", { class: ["problem", compact && "compact"], role: "alert" },
    icon("warning"),
    h("div", { class: "problem-words" },
      h("p", { class: "problem-title" }, name(title, { longest: 300 }), status),
      detail && h("p", null, name(detail, { longest: 1000 })),
      errors.length > 0 && h("ul", null, errors.map((each) =>
        h("li", null, h("code", null, each.pointer || "/"), " ", name(each.detail, { longest: 500 })))),
      error.retryAfter && h("p", { class: "muted" }, `May be tried again in ${error.retryAfter} s.`),
      error.requestId && h("p", { class: "muted small request-id" }, "Request ", h("code", null, error.requestId), copyButton(error.requestId, "request id")),
      retry && h("button", { class: "button small", type: "button", on: { click: retry } }, icon("refresh"), "Try again")));
}
