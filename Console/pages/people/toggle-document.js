/**
 * One document of switches: loaded, changed only as it was seen, and put back within ten seconds.
 */

import { ApiError, isAbort } from "../../core/api.js";
import { fill } from "../../core/dom.js";
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
    put: async (next) => take(await page.api.put(path, next, { headers: { "if-match": etag } })),
    async remove() {
      await page.api.delete(path, { headers: { "if-match": etag } });
      return self.load();
    },
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
    toast("Somebody else has changed these switches meanwhile. They are shown as they are now, and yours was not saved.",
      { kind: "bad", seconds: 12 });
    await self.load().catch(() => {});
  }

  return self;
}

/** Fills a node anew; what had the focus has it afterwards. */
export function refill(place, ...children) {
  const focusable = "a[href],button,input,select,textarea,[tabindex]";
  const index = [...place.querySelectorAll(focusable)].indexOf(document.activeElement);
  fill(place, ...children);
  if (index >= 0) place.querySelectorAll(focusable)[index]?.focus({ preventScroll: true });
}
