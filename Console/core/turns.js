/**
 * One after the other: what would get into each other's way.
 */

/** @returns {(act: () => Promise<any>) => Promise<any>} runs `act` once all that came before is over, however that ended */
export function turns() {
  let last = Promise.resolve();
  return (act) => (last = last.then(() => act(), () => act()));
}
