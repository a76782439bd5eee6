/**
 * Sending a file that may be large: with its progress, and for as long as it takes.
 */

import { answer, ApiError, bodyOf } from "./api.js";
import { connection } from "./connection.js";
import { session } from "./session.js";

function headersOf(request) {
  const lines = request.getAllResponseHeaders().trim().split(/[\r\n]+/);
  return new Headers(lines.map((line) => line.split(/:\s*(.*)/s).slice(0, 2)));
}

/**
 * Posts a file; what it answers, and throws, is as of `api.post`.
 * @param {string} path
 * @param {Blob} body
 * @param {{type: string, signal: AbortSignal, onProgress: (share: number) => void}} options `onProgress` hears how much is sent, 0 to 1
 */
export function upload(path, body, { type, signal, onProgress }) {
  const bearer = session.current?.token;
  const sentAt = Date.now();
  const request = new XMLHttpRequest();
  const over = new Promise((resolve, reject) => {
    request.onload = async () => {
      try {
        const response = new Response(request.responseText || null, { status: request.status, headers: headersOf(request) });
        resolve(answer(response, await bodyOf(response), { sentAt, bearer }));
      } catch (error) {
        reject(error);
      }
    };
    request.onerror = () => {
      connection.report(false);
      reject(new ApiError({ status: 0, offline: true }));
    };
    request.onabort = () => reject(new DOMException("The page was left.", "AbortError"));
    request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 1);
  });
  request.open("POST", path);
  request.setRequestHeader("accept", "application/json");
  request.setRequestHeader("content-type", type);
  request.setRequestHeader("authorization", `Bearer ${bearer}`);
  signal.addEventListener("abort", () => request.abort(), { once: true });
  request.send(body);
  return over;
}
