// HTML templates that escape every value, except values that were created by these templates themselves.

class Html {
  constructor(text) {
    this.text = text;
  }
}

const ESCAPES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** html`<p>${anything}</p>`: escapes text, joins lists, and renders undefined, null and false as nothing. */
export function html(strings, ...values) {
  return new Html(strings.map((part, index) => part + textOf(values[index])).join(''));
}

function textOf(value) {
  if (value === undefined || value === null || value === false) return '';
  if (value instanceof Html) return value.text;
  if (Array.isArray(value)) return value.map(textOf).join('');
  return String(value).replace(/[&<>"']/g, (character) => ESCAPES[character]);
}
