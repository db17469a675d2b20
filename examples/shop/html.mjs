// HTML in which whatever is put in is escaped, unless it was made here as well.

class Html {
  constructor(text) {
    this.text = text;
  }
}

const ESCAPES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** html`<p>${anything}</p>`: text is escaped, lists are joined, nothing stands for undefined, null and false. */
export function html(strings, ...values) {
  return new Html(strings.map((part, index) => part + textOf(values[index])).join(''));
}

function textOf(value) {
  if (value === undefined || value === null || value === false) return '';
  if (value instanceof Html) return value.text;
  if (Array.isArray(value)) return value.map(textOf).join('');
  return String(value).replace(/[&<>"']/g, (character) => ESCAPES[character]);
}
