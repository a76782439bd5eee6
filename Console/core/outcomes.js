/**
 * What can become of events, in words.
 */

/**
 * What can become of somebody whom an event concerns, by the level that decided.
 * @type {Array<{label: string, tone: string|number, pick: (recipients: object) => number|undefined, words: string}>}
 */
export const OUTCOMES = [
  { label: "Notified", tone: "good", pick: (recipients) => recipients.notified, words: "All switches allowed it." },
  { label: "Suppressed by network", tone: 1, pick: (recipients) => recipients.suppressed?.network, words: "A switch of the whole network." },
  { label: "Suppressed by user", tone: 2, pick: (recipients) => recipients.suppressed?.user, words: "Their own switches or quiet hours." },
  { label: "Suppressed by channel", tone: 3, pick: (recipients) => recipients.suppressed?.channel, words: "Their switches for this channel." },
  { label: "Left out by an endpoint", tone: 4, pick: (recipients) => recipients.suppressed?.endpoint ?? 0,
    words: "The server that is asked before sending." },
  { label: "No device", tone: 5, pick: (recipients) => recipients.noDevice, words: "Nothing to reach them on." },
];

/** What came of asking an endpoint, after its name. */
export const ANSWERS = {
  answered: "answered", timeout: "did not answer in time", error: "could not be asked", invalid: "gave an answer that is none",
  circuit: "was not asked: its last answers were failures", busy: "was not asked: too many others were in line",
};

/** What became of a notification about which an endpoint was asked. */
export const ACTIONS = { deliver: "delivered as it was", edit: "changed, then delivered", drop: "dropped" };
