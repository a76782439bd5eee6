/**
 * Filters that stand in the address.
 */

/**
 * Lets fields write into the address, each in its own time: what is typed in one still waits when another is changed.
 * @param {object} page
 * @param {() => void} onChange
 * @returns {(key: string, wait: number) => (value: string) => void} what a field of that key hears
 */
export function inAddress(page, onChange) {
  const timers = {};
  return (key, wait) => (value) => {
    clearTimeout(timers[key]);
    timers[key] = setTimeout(() => {
      if (page.signal.aborted) return;
      page.setQuery({ [key]: value.trim() });
      onChange();
    }, wait);
  };
}
