/**
 * The one client of the HTTP API. Everything that the console knows comes through here.
 */

import { connection, GATEWAY_ERRORS } from "./connection.js";
import { session } from "./session.js";

const TIMEOUT_MS = 30_000;

/** What went wrong, as the API says it. */
export class ApiError extends Error {
  /**
   * @param {{status: number, problem: object|null, requestId: string|null, retryAfter: number|null, offline: boolean}} what
   */
  constructor({ status, problem = null, requestId = null, retryAfter = null, offline = false }) {
    super(problem?.detail ?? problem?.title ?? (offline ? "The service does not answer." : `The service answered ${status}.`));
    this.name = "ApiError";
    this.status = status;
    this.problem = problem;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
    this.offline = offline;
  }

  /** Whether the same request may go through later without anybody doing anything. */
  get isPassing() {
    return this.offline || this.status === 408 || this.status === 429 || this.status >= 500;
  }

  /** What is wrong with one member of the body, by its JSON Pointer. */
  at(pointer) {
    return this.problem?.errors?.find((error) => error.pointer === pointer)?.detail ?? null;
  }
}

/** Whether an error only says that its page was left. */
export function isAbort(error) {
  return error?.name === "AbortError";
}

/** Joins segments to a path, each percent-encoded: `pathOf("v1", "networks", "a/b")` → `/v1/networks/a%2Fb`. */
export function pathOf(...segments) {
  return `/${segments.map((segment) => encodeURIComponent(checked(String(segment)))).join("/")}`;
}

/** Browsers take `.` and `..` out of a path, encoded or not: what is asked then would be something else. */
function checked(segment) {
  if (segment !== "." && segment !== "..") return segment;
  throw new ApiError({ status: 0, problem: { title: `“${segment}” is no id`, detail: "“.” and “..” are no ids of anything." } });
}

/** Appends what a query says; null, undefined and "" are left out. */
export function withQuery(path, query) {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== null && value !== undefined && value !== "") search.set(name, String(value));
  }
  const text = search.toString();
  return text ? `${path}?${text}` : path;
}

function retryAfterOf(response) {
  const header = response.headers.get("retry-after");
  if (!header) return null;
  const seconds = Number(header);
  if (!Number.isNaN(seconds)) return seconds;
  const date = Date.parse(header);
  return Number.isNaN(date) ? null : Math.max(0, Math.ceil((date - Date.now()) / 1000));
}

/** What an answer holds: JSON as what it says, anything else as text. */
export async function bodyOf(response) {
  if (response.status === 204 || response.status === 304) return null;
  const type = response.headers.get("content-type") ?? "";
  const text = await response.text();
  if (!type.includes("json")) return text;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

async function send(method, path, { body, query, headers = {}, signal, token } = {}) {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const bearer = token ?? session.current?.token;
  const sent = { accept: "application/json", ...headers };
  if (bearer) sent.authorization = `Bearer ${bearer}`;
  if (body !== undefined && !sent["content-type"]) sent["content-type"] = "application/json";
  const sentAt = Date.now();
  let response;
  let data;
  try {
    response = await fetch(withQuery(path, query), {
      method,
      headers: sent,
      body: body === undefined || typeof body === "string" || body instanceof Blob ? body : JSON.stringify(body),
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
    });
    data = await bodyOf(response);
  } catch (error) {
    if (signal?.aborted) throw new DOMException("The page was left.", "AbortError");
    connection.report(false);
    throw new ApiError({ status: 0, offline: true });
  }
  return answer(response, data, { sentAt, bearer: token === undefined ? bearer : null });
}

/**
 * What came of a request: what it answers, or throws.
 * @param {Response} response
 * @param {any} data what it holds
 * @param {{sentAt: number, bearer: string|null|undefined}} request `bearer` is the session’s key, if that was sent
 */
export function answer(response, data, { sentAt, bearer }) {
  // A proxy answers for a service that does not.
  connection.report(!(GATEWAY_ERRORS.has(response.status) && !data?.type));
  connection.hearClock(response.headers.get("date"), sentAt);
  const requestId = response.headers.get("x-request-id");
  if (response.ok || response.status === 304) return { data, status: response.status, etag: response.headers.get("etag"), requestId };
  const failure = new ApiError({
    status: response.status,
    problem: data && typeof data === "object" ? data : null,
    requestId,
    retryAfter: retryAfterOf(response),
  });
  // A late answer to a key that somebody has signed out of says nothing of the one that they signed in with since.
  if (response.status === 401 && bearer && bearer === session.current?.token) session.end({ title: failure.message, requestId });
  throw failure;
}

export const api = {
  get: (path, options) => send("GET", path, options),
  delete: (path, options) => send("DELETE", path, options),
  post: (path, body, options) => send("POST", path, { ...options, body }),
  put: (path, body, options) => send("PUT", path, { ...options, body }),
  patch: (path, body, options) => send("PATCH", path, { ...options, body }),

  /**
   * The pages of a list, by its cursors.
   * @returns {AsyncGenerator<{items: Array, next: string|undefined}>}
   */
  async *list(path, query = {}, options = {}) {
    let cursor;
    do {
      const { data } = await send("GET", path, { ...options, query: { ...query, cursor } });
      yield data;
      cursor = data.next;
    } while (cursor);
  },
};
