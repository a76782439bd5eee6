/**
 * Elements, made one way: text goes in as text nodes, never as markup.
 */

const SVG = "http://www.w3.org/2000/svg";
const PROPERTIES = new Set(["value", "checked", "indeterminate", "selected", "multiple"]);
const ADDRESSES = new Set(["href", "src", "action", "formaction"]);
const FORBIDDEN = new Set(["style", "srcdoc", "innerhtml", "outerhtml"]);

/** Whether an address may stand in the document: of this host, of the web, or a picture as data. */
export function isSafeAddress(address) {
  const text = String(address).trim();
  return /^(https?:|mailto:|data:image\/)/i.test(text) || /^[/#?]/.test(text);
}

function setAttribute(element, name, value) {
  const lower = name.toLowerCase();
  if (FORBIDDEN.has(lower) || lower.startsWith("on")) throw new TypeError(`${name} is no attribute for h()`);
  if (value === null || value === undefined || value === false) return;
  if (lower === "autofocus") {
    // The router and dialogs put the focus; the browser would only do so once for a document.
    element.dataset.autofocus = "";
  } else if (PROPERTIES.has(name)) {
    element[name] = value;
  } else if (ADDRESSES.has(lower) && !isSafeAddress(value)) {
    return;
  } else {
    element.setAttribute(name, value === true ? "" : String(value));
  }
}

function assign(element, props) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (name === "class") {
      const classes = [value].flat().filter(Boolean).join(" ");
      if (classes) element.setAttribute("class", classes);
    } else if (name === "dataset") {
      for (const [key, datum] of Object.entries(value)) {
        if (datum !== null && datum !== undefined && datum !== false) element.dataset[key] = String(datum);
      }
    } else if (name === "on") {
      for (const [event, listener] of Object.entries(value)) if (listener) element.addEventListener(event, listener);
    } else if (!PROPERTIES.has(name)) {
      setAttribute(element, name, value);
    }
  }
}

/** Appends nodes and texts; arrays are flattened, `null`, `undefined` and booleans left out. */
export function append(parent, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || typeof child === "boolean") continue;
    parent.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return parent;
}

/**
 * Makes an element.
 * @param {string} tag
 * @param {object|null} [props] `class` (text or list), `dataset`, `on: {click: f}`, `value`/`checked`…, anything else is an
 *   attribute (`true` sets it empty; `false` and `null` leave it out).
 * @param {...(Node|string|number|null|Array)} children
 */
export function h(tag, props, ...children) {
  const element = document.createElement(tag);
  assign(element, props);
  append(element, ...children);
  // After the children: the value of a select names one of its options.
  for (const [name, value] of Object.entries(props ?? {})) if (PROPERTIES.has(name)) setAttribute(element, name, value);
  return element;
}

/** The same for SVG. */
export function s(tag, props, ...children) {
  const element = document.createElementNS(SVG, tag);
  assign(element, props);
  return append(element, ...children);
}

/** Replaces whatever a node holds. */
export function fill(parent, ...children) {
  parent.replaceChildren();
  return append(parent, ...children);
}

let lastID = 0;

/** An id for `aria-labelledby` and its like, used nowhere else in this document. */
export function uniqueID(prefix = "c") {
  lastID += 1;
  return `${prefix}-${lastID}`;
}

const FOCUSABLE = "a[href],button,input,select,textarea,summary,[tabindex]";

/** Replaces whatever a node holds; what had the focus has it afterwards, by its place. */
export function refill(parent, ...children) {
  const place = [...parent.querySelectorAll(FOCUSABLE)].indexOf(document.activeElement);
  fill(parent, ...children);
  if (place >= 0) parent.querySelectorAll(FOCUSABLE)[place]?.focus({ preventScroll: true });
  return parent;
}

/**
 * Makes the children of a parent those that the items ask for. An element whose signature is unchanged stays, so that
 * focus, selection and scrolling survive a refresh; of a row that goes, the focus passes to the one in its place.
 * @param {Element} parent
 * @param {Array} items
 * @param {{key: (item) => string, make: (item) => Element, signature?: (item) => string}} how
 */
export function reconcile(parent, items, { key, make, signature = JSON.stringify }) {
  const wanted = new Set(items.map(key));
  const former = new Map();
  let lost = null;
  // What goes, goes first: whatever stays is then in its place already, and is not moved, which would take the focus from it.
  for (const [index, child] of [...parent.children].entries()) {
    if (wanted.has(child.reconciledKey)) {
      former.set(child.reconciledKey, child);
    } else {
      if (child.contains(document.activeElement)) lost = { index, place: [...child.querySelectorAll(FOCUSABLE)].indexOf(document.activeElement) };
      child.remove();
    }
  }
  let place = parent.firstElementChild;
  for (const item of items) {
    const itemKey = key(item);
    const sign = signature(item);
    let element = former.get(itemKey);
    if (element && element.reconciledSignature === sign) {
      former.delete(itemKey);
    } else {
      const fresh = make(item);
      fresh.reconciledKey = itemKey;
      fresh.reconciledSignature = sign;
      if (element) {
        former.delete(itemKey);
        if (element === place) place = fresh;
        replaceKeepingFocus(element, fresh);
      }
      element = fresh;
    }
    if (element === place) {
      place = place.nextElementSibling;
    } else {
      parent.insertBefore(element, place);
    }
  }
  if (lost) {
    const heir = parent.children[Math.min(lost.index, parent.children.length - 1)]?.querySelectorAll(FOCUSABLE) ?? [];
    (heir[lost.place] ?? heir[0])?.focus({ preventScroll: true });
  }
}

function replaceKeepingFocus(former, fresh) {
  const place = [...former.querySelectorAll(FOCUSABLE)].indexOf(document.activeElement);
  former.replaceWith(fresh);
  if (place >= 0) fresh.querySelectorAll(FOCUSABLE)[place]?.focus({ preventScroll: true });
}
