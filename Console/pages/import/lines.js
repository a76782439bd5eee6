/**
 * What a file of lines holds, looked at in this browser before anything is sent.
 */

/** What a line may be, and what it does. */
export const KINDS = {
  user: "Users described", channel: "Channels described", member: "Memberships added", device: "Devices registered",
  tag: "Tags declared", subscription: "Subscriptions added",
};

const MOST_BYTES = 65_536;
const MOST_MISTAKES = 10;
const encoder = new TextEncoder();

/** What is wrong with a line, or its kind. */
function read(line) {
  if (line.length > MOST_BYTES / 4 && encoder.encode(line).length > MOST_BYTES) return { mistake: "is longer than 64 KiB" };
  let value;
  try {
    value = JSON.parse(line);
  } catch (error) {
    return { mistake: `is no JSON: ${error.message}` };
  }
  const [kind, ...others] = Object.keys(value && typeof value === "object" && !Array.isArray(value) ? value : {});
  if (!Object.hasOwn(KINDS, kind ?? "") || others.length > 0) return { mistake: `has to be one of {"${Object.keys(KINDS).join("\":…}, {\"")}":…}` };
  return { kind };
}

/** The lines of a file, one after the other: it may be larger than what fits into memory. */
async function* linesOf(file, signal) {
  let rest = "";
  const reader = file.stream().pipeThrough(new TextDecoderStream()).getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    if (signal.aborted) return;
    const lines = (rest + part.value).split("\n");
    rest = lines.pop();
    yield* lines;
  }
  yield rest;
}

/**
 * @param {File} file
 * @param {AbortSignal} signal
 * @returns {Promise<{counts: Object<string, number>, total: number, mistakes: Array<{line: number, words: string}>, wrong: number}>}
 *   the first mistakes, and how many there are
 */
export async function examine(file, signal) {
  const counts = {};
  const mistakes = [];
  let [total, wrong, number] = [0, 0, 0];
  for await (const line of linesOf(file, signal)) {
    number += 1;
    if (!line.trim()) continue;
    total += 1;
    const { kind, mistake } = read(line);
    if (kind) counts[kind] = (counts[kind] ?? 0) + 1;
    else if (++wrong <= MOST_MISTAKES) mistakes.push({ line: number, words: mistake });
  }
  return { counts, total, mistakes, wrong };
}
