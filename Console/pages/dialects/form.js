/**
 * The dialog in which a dialect's document is written.
 */

import { fill, h } from "../../core/dom.js";
import { count } from "../../core/format.js";
import { openDialog } from "../../components/dialog.js";
import { documentForm } from "../../components/document.js";
import { field, showMistakes } from "../../components/field.js";
import { notice } from "../../components/notice.js";
import { settingsOf } from "./document.js";

/** The most secrets at a time. */
const MOST_SECRETS = 4;

/** Fields for secrets that nobody can see again: those that are set stay, unless others are put in their place. */
function secretFields(dialect, document) {
  const known = document?.secrets?.length ?? 0;
  const secrets = field({ label: `${dialect.secret}${known > 0 ? "s from now on" : ""}`, name: "secrets", type: "textarea", rows: 2, mono: true,
    hint: `One on each line, ${MOST_SECRETS} at most: while one is changed, the former and the new one.` });
  const keep = field({ label: `Keep ${known === 1 ? "the one that is set" : `the ${count(known, "secret")} that are set`}`, name: "keepSecrets",
    type: "checkbox", value: known > 0, onInput: show });
  function show() {
    secrets.hidden = keep.value;
  }
  show();
  return {
    fields: [secrets],
    element: [known > 0 && keep, secrets],
    body: () => (keep.value ? {} : { secrets: secrets.value.split("\n").map((line) => line.trim()).filter(Boolean) }),
  };
}

/** Fields for a user and password, of which the password is not shown again. */
function basicFields(document) {
  const known = document?.basic;
  const user = field({ label: "User", name: "user", pointer: "/basic/user", value: known?.user, mono: true });
  const password = field({ label: "Password", name: "password", pointer: "/basic/password", type: "password", autocomplete: "new-password", mono: true,
    hint: known ? "Empty: the one that is set stays." : null });
  return {
    fields: [user, password],
    element: h("div", { class: "fields-row" }, user, password),
    body: () => {
      if (!user.value && !password.value) return known ? { basic: null } : {};
      if (known && user.value === known.user && !password.value) return {};
      return { basic: { user: user.value, password: password.value || undefined } };
    },
  };
}

/**
 * @param {object} page
 * @param {object} dialect of the catalogue
 * @param {object|null} document as it is now
 * @returns {Promise<object|undefined>} the document as it is afterwards; undefined when nothing was done
 */
export function documentDialog(page, dialect, document) {
  const enabled = field({ label: "Take its webhooks", name: "enabled", type: "checkbox", value: document?.enabled ?? true });
  const proofs = [dialect.proof !== "basic" && secretFields(dialect, document), dialect.proof !== "secrets" && basicFields(document)].filter(Boolean);
  const settings = documentForm({ fields: dialect.fields, value: settingsOf(document) });
  const warning = h("div");
  if (dialect.warning) fill(warning, notice("warn", dialect.warning));

  async function save() {
    const read = settings.value;
    if (!read) return false;
    const body = Object.assign({ ...read, enabled: enabled.value }, ...proofs.map((proof) => proof.body()));
    try {
      return (await page.api.put(page.path("dialects", dialect.id), body, { signal: page.signal })).data;
    } catch (error) {
      const fields = [enabled, ...proofs.flatMap((proof) => proof.fields), ...settings.fields].filter((each) => !each.hidden);
      if (showMistakes(fields, error)) return false;
      throw error;
    }
  }

  return openDialog({
    title: document ? `Webhooks of ${dialect.title}` : `Take webhooks of ${dialect.title}`,
    wide: true,
    body: h("form", { class: "form", novalidate: true }, enabled, proofs.map((proof) => proof.element), dialect.warning && warning, settings),
    actions: [{ label: "Cancel", kind: "quiet" }, { label: "Save", kind: "primary", run: save }],
  });
}
