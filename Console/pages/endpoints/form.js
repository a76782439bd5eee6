/**
 * The dialog in which an endpoint is made or edited.
 */

import { fill, h } from "../../core/dom.js";
import { postOnce } from "../../core/idempotency.js";
import { openDialog } from "../../components/dialog.js";
import { field, numberOf, showMistakes } from "../../components/field.js";
import { showSecretsOnce } from "../../components/secret.js";

const MODES = [
  { value: "observe", label: "observe: is told of what happened" },
  { value: "intercept", label: "intercept: is asked before anybody is notified" },
];
const OUTCOMES = [
  { value: "deliver", label: "deliver: chat goes on when it is down" },
  { value: "drop", label: "drop: nobody is notified without its word" },
];

function makeFields(endpoint) {
  return {
    url: field({ label: "URL", name: "url", type: "url", value: endpoint?.url, required: true, placeholder: "https://bot.example.org/carillon", mono: true }),
    description: field({ label: "Description", name: "description", value: endpoint?.description }),
    events: field({ label: "Events", name: "events", value: endpoint?.events.join(", ") ?? "*", mono: true, required: true,
      hint: "Types with commas between them, all of a kind (message.*), or *." }),
    replayHours: field({ label: "Keep for a replay (hours)", name: "replayHours", value: endpoint?.replayHours ?? 72, inputmode: "numeric", hint: "0 to 168." }),
    timeoutMs: field({ label: "It has to answer within (ms)", name: "timeoutMs", value: endpoint?.timeoutMs ?? 1500, inputmode: "numeric", hint: "100 to 5,000." }),
    onFailure: field({ label: "Without a good answer", name: "onFailure", type: "select", options: OUTCOMES, value: endpoint?.onFailure ?? "deliver" }),
    includeRecipients: field({ label: "It is told who is to be notified", name: "includeRecipients", type: "checkbox", value: endpoint?.includeRecipients ?? true }),
  };
}

/** What the fields say, as the API takes it: only what the mode has. */
function settingsOf(mode, fields) {
  const shared = {
    url: fields.url.value.trim(),
    mode,
    description: fields.description.value.trim() || null,
    events: fields.events.value.split(/[,\s]+/).filter(Boolean),
  };
  if (mode === "observe") return { ...shared, replayHours: numberOf(fields.replayHours.value) };
  return {
    ...shared,
    timeoutMs: numberOf(fields.timeoutMs.value),
    onFailure: fields.onFailure.value,
    includeRecipients: fields.includeRecipients.value,
  };
}

/**
 * Makes an endpoint, or edits the one that is given.
 * @param {object} page
 * @param {object} [endpoint]
 * @returns {Promise<object|undefined>} the endpoint as it is now; undefined when nothing was done
 */
export async function endpointDialog(page, endpoint) {
  const post = postOnce(page);
  const fields = makeFields(endpoint);
  const mode = field({ label: "Mode", name: "mode", type: "select", options: MODES, value: endpoint?.mode ?? "observe", onInput: show });
  const place = h("div", { class: "form" });
  function show() {
    fill(place, mode.value === "observe" ? fields.replayHours : [fields.timeoutMs, fields.onFailure, fields.includeRecipients]);
  }
  show();

  async function run() {
    const settings = settingsOf(mode.value, fields);
    const options = { signal: page.signal };
    try {
      if (endpoint) return { endpoint: (await page.api.put(page.path("endpoints", endpoint.id), settings, options)).data };
      return (await post(page.path("endpoints"), settings)).data;
    } catch (error) {
      if (showMistakes([mode, ...Object.values(fields)].filter((each) => each.isConnected), error)) return false;
      throw error;
    }
  }

  const made = await openDialog({
    title: endpoint ? "Edit the endpoint" : "New endpoint",
    wide: true,
    body: h("form", { class: "form", novalidate: true }, fields.url, mode, fields.events, fields.description, place),
    actions: [
      { label: "Cancel", kind: "quiet" },
      { label: endpoint ? "Save" : "Make the endpoint", kind: "primary", run },
    ],
  });
  if (!made) return undefined;
  if (made.secret) {
    await showSecretsOnce({
      title: "The endpoint’s secret",
      text: "Your server verifies with it what it is sent. It is shown only now; it can be rotated at any time.",
      secrets: [{ label: "Endpoint secret", value: made.secret }],
    });
  }
  return made.endpoint;
}
