/**
 * One document of switches: written by one change after the other, never over what somebody else has changed, and put back
 * within ten seconds.
 */

import { ApiError } from "../core/api.js";
import { comeBack } from "../core/connection.js";
import { h } from "../core/dom.js";
import { turns } from "../core/turns.js";
import { toast } from "./toast.js";

const UNDO_SECONDS = 10;

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** Whether what was sent may have been done: the answer was lost, on its way here or behind the service. */
const isUnknown = (error) => error.offline || error.problem?.outcome === "unknown" || (error.status >= 500 && !error.problem);

/** The document as it is now, with what `wanted` changes of the one that was seen; throws where somebody else has changed just that. */
function merged(seen, wanted, current) {
  const result = { ...current };
  for (const key of new Set([...Object.keys(seen), ...Object.keys(wanted)])) {
    if (key === "updatedAt" || isSame(seen[key], wanted[key]) || isSame(current[key], wanted[key])) continue;
    if ([seen, wanted, current].every((each) => isObject(each[key]))) result[key] = merged(seen[key], wanted[key], current[key]);
    else if (isSame(seen[key], current[key])) result[key] = wanted[key];
    else throw new ApiError({ status: 412 });
  }
  return result;
}

/**
 * @param {object} page
 * @param {string} path of the document
 */
export function toggleDocument(page, path) {
  const listeners = new Set();
  const inTurn = turns();
  let value = null;
  let etag = null;
  let told = null;
  // Writes that are not over, and those that are: an answer that was asked for beside one may be older than what is shown.
  let waiting = 0;
  let written = 0;
  // Whether an answer was lost: what holds may be newer than what is known.
  let isBehind = false;

  function take(answer) {
    value = answer.data;
    etag = answer.etag;
    isBehind = false;
  }

  function tell() {
    if (told === value) return;
    told = value;
    for (const listener of listeners) listener(value);
  }

  /** Without the page's signal: what was begun is finished, and can be taken back, also after the page is left. */
  const read = async () => take(await page.api.get(path));

  /** What waits is shown already by what began it: the document is shown again after the last. */
  async function write(act) {
    waiting += 1;
    try {
      return await inTurn(act);
    } finally {
      waiting -= 1;
      written += 1;
      if (waiting === 0) tell();
    }
  }

  /** Saves, when its turn comes, what is wanted of what was seen; answers the document before and after. */
  const save = (what) => write(async () => {
    // Where a proxy takes tags away, it is looked right before whether somebody else has changed it.
    if (isBehind || !etag) await read();
    const former = value;
    const headers = etag ? { "if-match": etag } : {};
    what.seen ??= value;
    if (what.edit) what.edit(what.wanted = { ...structuredClone(what.seen), updatedAt: undefined });
    const { seen, wanted } = what;
    try {
      const next = wanted && merged(seen, wanted, value);
      // There was none before: then there is none again.
      if (!next || isSame({ ...next, updatedAt: null }, wanted)) {
        await page.api.delete(path, { headers });
        await read();
      } else {
        take(await page.api.put(path, next, { headers }));
      }
    } catch (error) {
      isBehind = isUnknown(error);
      if (error.status === 412) await read().catch(() => {});
      throw Object.assign(error, { former });
    }
    return { former, made: value };
  });

  /**
   * Saves, and says what came of it; throws unless it is saved.
   * @param {object} what `seen`, and `wanted` (null: the defaults) or the `edit` that makes it; `name` and `failed` for words;
   *   `done` hears what `save` answers
   */
  async function attempt(what) {
    const { name, failed, done, settle, isInDialog } = what;
    try {
      done(await save(what));
    } catch (error) {
      if (error.status === 412) {
        if (settle && !page.signal.aborted) {
          if (await settle(error.former, what.wanted)) return attempt(what);
        } else toast(`Somebody else has changed these switches meanwhile. ${name} is not ${failed}.`, { kind: "bad", seconds: 12 });
      } else if (isUnknown(error) && what.wanted !== undefined) {
        toast(`${name}: whether it is ${failed} is not known, and looked up as soon as the service answers.`, { kind: "bad", seconds: 12 });
        lookUp(what);
      } else if (!isInDialog) {
        // A detail alone may not say what it is about.
        const said = [...new Set([error.problem?.title, error.message].filter(Boolean))].join(": ");
        toast(h("span", null, h("strong", null, `${name} could not be ${failed}. `), said, error.requestId ? ` (request ${error.requestId})` : ""),
          { kind: "bad", seconds: 15 });
      }
      throw error;
    }
    return undefined;
  }

  /** Says what came of a change whose answer was lost. */
  async function lookUp(what, failures = 1) {
    const { seen, wanted, name, failed, done } = what;
    try {
      await write(read);
    } catch (error) {
      // Then whoever looks by itself says why.
      if (!error.isPassing) isBehind = false;
      comeBack(error, () => lookUp(what, failures + 1), failures);
      return;
    }
    let isSaved = value.updatedAt === null;
    let former = wanted ? null : seen;
    try {
      if (wanted) {
        isSaved = isSame(merged(seen, wanted, value), value);
        former = { ...merged(wanted, seen, value), updatedAt: seen.updatedAt };
      }
    } catch {
      // Neither as it was seen nor word for word as it was sent: the service may write it in another way.
      isSaved = true;
    }
    if (isSaved) done({ former, made: value });
    else toast(`${name} is not ${failed}: the service did not answer.`, { kind: "bad", seconds: 15 });
  }

  const self = {
    get value() {
      return value;
    },
    async load() {
      take(await page.api.get(path, { signal: page.signal }));
      tell();
    },
    /** Looks whether somebody else has changed it; answers what it was before, if so. */
    async refresh() {
      if (waiting > 0 || isBehind) return null;
      const seen = written;
      const headers = etag ? { "if-none-match": etag } : {};
      const answer = await page.api.get(path, { headers, signal: page.signal });
      if (waiting > 0 || seen !== written || answer.status === 304) return null;
      if (etag ? answer.etag === etag : isSame(answer.data, value)) return null;
      const former = value;
      take(answer);
      tell();
      return former;
    },
    onChange(listener) {
      listeners.add(listener);
    },

    /**
     * Changes a copy and saves it; says what was done, and offers to take it back. Throws when it was refused, having said so.
     * @param {string} words what was done
     * @param {((next: object) => void)|null} edit null puts everything back to the defaults
     * @param {object} [options]
     * @param {string} [options.name] what is changed
     * @param {object} [options.seen] the document that somebody went by: what others have changed of it since is not written over
     * @param {boolean} [options.isInDialog] a dialog says itself what was refused, but for a change by somebody else
     * @param {(former: object, wanted: object) => Promise<boolean>} [options.settle] asks whose word holds after a change by
     *   somebody else; answers whether ours does
     * @param {() => void} [options.onUndo] hears that it is taken back
     */
    async change(words, edit, { name = "Your change", seen, isInDialog, settle, onUndo } = {}) {
      const undo = (former, made) => {
        onUndo?.();
        return attempt({ seen: made, wanted: former, name, failed: "put back", settle,
          done: () => toast("It is as it was before.", { kind: "good" }) }).catch(() => {});
      };
      await attempt({ seen, edit, wanted: edit ? undefined : null, name, failed: "saved", settle, isInDialog, done: ({ former, made }) =>
        toast(words, { kind: "good", seconds: UNDO_SECONDS, action: former && { label: "Undo", run: () => undo(former, made) } }) });
    },
  };

  return self;
}
