/**
 * One document of switches: loaded, changed only as it was seen, and put back within ten seconds.
 */

import { ApiError, isAbort } from "../../core/api.js";
import { problem } from "../../components/problem.js";
import { toast } from "../../components/toast.js";

const UNDO_SECONDS = 10;

/**
 * @param {object} page
 * @param {string} path of the document
 */
export function toggleDocument(page, path) {
  const listeners = new Set();
  let value = null;
  let etag = null;
  // Moves when a change begins and when it ends: an answer that was asked for before is older than what is shown.
  let changes = 0;

  /** Without the page's signal: what was begun is finished, and can be taken back, also after the page is left. */
  async function write(act) {
    changes += 1;
    try {
      return take(await act());
    } finally {
      changes += 1;
    }
  }

  function take(answer) {
    value = answer.data;
    etag = answer.etag;
    for (const listener of listeners) listener(value);
    return value;
  }

  const self = {
    get value() {
      return value;
    },
    load: async () => take(await page.api.get(path, { signal: page.signal })),
    /** Looks whether somebody else has changed it. */
    async refresh() {
      const seen = changes;
      const answer = await page.api.get(path, { headers: { "if-none-match": etag }, signal: page.signal });
      if (seen === changes && answer.status !== 304 && answer.etag !== etag) take(answer);
    },
    put: (next) => write(() => page.api.put(path, next, { headers: { "if-match": etag } })),
    remove: () => write(async () => {
      await page.api.delete(path, { headers: { "if-match": etag } });
      return page.api.get(path);
    }),
    onChange(listener) {
      listeners.add(listener);
    },

    /**
     * Changes a copy and saves it; says what was done, and offers to take it back. Throws when it was refused, having said so.
     * @param {string} words what was done
     * @param {((next: object) => void)|null} edit null puts everything back to the defaults
     * @param {{isInDialog?: boolean}} [options] a dialog says itself what was refused, but for a change by somebody else
     */
    async change(words, edit, { isInDialog = false } = {}) {
      const former = structuredClone(value);
      try {
        if (edit) {
          const next = structuredClone(value);
          edit(next);
          await self.put(next);
        } else {
          await self.remove();
        }
      } catch (error) {
        if (!isInDialog || error.status === 412) await explainRefusal(error);
        throw error;
      }
      toast(words, { kind: "good", seconds: UNDO_SECONDS, action: { label: "Undo", run: () => undo(former) } });
    },
  };

  async function undo(former) {
    try {
      if (former.updatedAt === null) await self.remove();
      else await self.put(former);
      toast("It is as it was before.", { kind: "good" });
    } catch (error) {
      await explainRefusal(error);
    }
  }

  async function explainRefusal(error) {
    if (isAbort(error)) return;
    if (!(error instanceof ApiError) || error.status !== 412) {
      toast(problem(error, { compact: true }), { kind: "bad", seconds: 15 });
      return;
    }
    toast(page.signal.aborted ? "Somebody else has changed these switches meanwhile: yours was not put back."
      : "Somebody else has changed these switches meanwhile. They are shown as they are now, and yours was not saved.",
    { kind: "bad", seconds: 12 });
    if (!page.signal.aborted) await self.load().catch(() => {});
  }

  return self;
}
