import { element, find } from './dom.js';
import { addressOf, describeFound, type Found, loadIndex, search } from './search.js';

const MOST = 8;

/** Starts the search box, with suggestions during typing and a page of results on Enter. The key `/` focuses it. */
export function startSearchBox(): void {
  const input = find<HTMLInputElement>('.search input');
  if (!input?.parentElement) return;
  const list = element('ul', { class: 'suggestions', role: 'listbox', id: 'suggestions', 'aria-label': 'Found' });
  list.hidden = true;
  input.parentElement.append(list);
  for (const [name, value] of Object.entries({
    role: 'combobox',
    'aria-expanded': 'false',
    'aria-controls': 'suggestions',
  }))
    input.setAttribute(name, value);
  let shown: readonly Found[] = [];
  let chosen = -1;
  let asked = 0;

  function choose(at: number): void {
    chosen = at;
    for (const [index, option] of [...list.children].entries())
      option.setAttribute('aria-selected', String(index === at));
    if (at < 0) input?.removeAttribute('aria-activedescendant');
    else {
      input?.setAttribute('aria-activedescendant', `suggestion-${at}`);
      list.children[at]?.scrollIntoView({ block: 'nearest' });
    }
  }

  function show(found: readonly Found[], query: string): void {
    shown = found.slice(0, MOST);
    list.replaceChildren(
      ...shown.map((one, at) => {
        const option = element(
          'li',
          { role: 'option', id: `suggestion-${at}`, 'aria-selected': 'false' },
          ...describeFound(one, query, (text) => document.createTextNode(text)),
        );
        option.addEventListener('pointerdown', (event) => {
          event.preventDefault();
          location.assign(addressOf(one.entry));
        });
        return option;
      }),
    );
    list.hidden = shown.length === 0;
    input?.setAttribute('aria-expanded', String(shown.length > 0));
    choose(-1);
  }

  input.addEventListener('focus', () => void loadIndex().catch(() => undefined), { once: true });
  input.addEventListener('input', async () => {
    asked += 1;
    const mine = asked;
    const query = input.value;
    const found = await search(query).catch(() => []);
    if (mine === asked) show(found, query);
  });
  /** Hides the suggestions, and drops those that have not arrived yet. */
  function close(): void {
    asked += 1;
    show([], '');
  }

  input.addEventListener('blur', close);
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      close();
      return;
    }
    const one = shown[chosen];
    if (event.key === 'Enter' && one) {
      event.preventDefault();
      location.assign(addressOf(one.entry));
      return;
    }
    if (shown.length === 0 || (event.key !== 'ArrowDown' && event.key !== 'ArrowUp')) return;
    event.preventDefault();
    const step = event.key === 'ArrowDown' ? 1 : -1;
    choose((chosen + step + shown.length + (chosen < 0 && step < 0 ? 1 : 0)) % shown.length);
  });
  document.addEventListener('keydown', (event) => {
    const isTyping =
      event.target instanceof Element && event.target.closest('input:not([type=radio]), textarea, select');
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
}

function describeOutcome(query: string, count: number | undefined): string {
  if (count === undefined) return 'The search could not be loaded. Try again.';
  if (count > 0) return `${count} found for “${query}”.`;
  return `Nothing found for “${query}”. Try fewer words, the name of a field, or a code such as 401002.`;
}

/** Fills the page of results. */
export async function startResults(): Promise<void> {
  const list = find('#results');
  const said = find('#results-said');
  const wayOn = find<HTMLElement>('#way-on');
  if (!list || !said || !wayOn) return;
  const query = new URLSearchParams(location.search).get('q') ?? '';
  const box = find<HTMLInputElement>('.search input');
  if (box) box.value = query;
  if (query.trim() === '') {
    said.textContent = 'Type your search into the box at the top.';
    box?.focus();
    return;
  }
  const found = await search(query).catch(() => undefined);
  said.textContent = describeOutcome(query, found?.length);
  wayOn.hidden = found !== undefined && found.length > 0;
  list.replaceChildren(
    ...(found ?? [])
      .slice(0, 50)
      .map((one) =>
        element('li', {}, ...describeFound(one, query, (text) => element('a', { href: addressOf(one.entry) }, text))),
      ),
  );
}
