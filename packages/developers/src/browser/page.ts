import { element, find } from './dom.js';
import { recall, remember } from './memory.js';
import { startResults, startSearchBox } from './search-box.js';

startThemeSwitch();
startChoices();
startCopyButtons();
startTasks();
startSearchBox();
void startResults();
markSectionInView();
showCurrentPage();

function startThemeSwitch(): void {
  const button = find<HTMLButtonElement>('.theme-switch');
  if (!button) return;
  const page = document.documentElement;
  const isDark = () =>
    page.dataset['theme'] === undefined
      ? matchMedia('(prefers-color-scheme: dark)').matches
      : page.dataset['theme'] === 'dark';
  const name = () => button.setAttribute('aria-label', isDark() ? 'Light colours' : 'Dark colours');
  button.hidden = false;
  name();
  button.addEventListener('click', () => {
    page.dataset['theme'] = isDark() ? 'light' : 'dark';
    remember('theme', page.dataset['theme']);
    name();
  });
}

/**
 * Applies the tab that the reader chooses, such as a language, to all groups of tabs with the same key in the browser's
 * memory.
 */
function startChoices(): void {
  for (const group of document.querySelectorAll<HTMLElement>('[data-memory]')) {
    const memory = group.dataset['memory'] ?? '';
    choose(memory, recall(memory));
    group.addEventListener('change', ({ target }) => {
      if (!(target instanceof HTMLInputElement)) return;
      remember(memory, target.value);
      const before = group.getBoundingClientRect().top;
      choose(memory, target.value);
      // Keeps the tabs at their place on the screen, because the text above them may have changed its height.
      scrollBy({ top: group.getBoundingClientRect().top - before, behavior: 'instant' });
    });
  }
}

function choose(memory: string, value: string | null): void {
  if (value === null) return;
  for (const choice of document.querySelectorAll<HTMLInputElement>(`[data-memory="${memory}"] > input`))
    if (choice.value === value) choice.checked = true;
}

/** Remembers in this browser which checkboxes are ticked. */
function startTasks(): void {
  for (const box of document.querySelectorAll<HTMLInputElement>('.task input')) {
    const name = `task ${location.pathname} ${box.closest('.task')?.textContent?.trim()}`;
    box.checked = recall(name) === 'done';
    box.addEventListener('change', () => remember(name, box.checked ? 'done' : 'open'));
  }
}

function startCopyButtons(): void {
  for (const code of document.querySelectorAll('.code')) {
    const button = element('button', { type: 'button', class: 'copy' }, 'Copy');
    button.addEventListener('click', async () => {
      const isCopied = await copy(code.querySelector('pre'));
      button.textContent = isCopied ? 'Copied' : 'Press Ctrl+C';
      button.classList.add('done');
      setTimeout(() => {
        button.textContent = 'Copy';
        button.classList.remove('done');
      }, 1600);
    });
    code.append(button);
  }
}

/** Copies the text. Selects it and returns false if the browser offers no clipboard, as on plain HTTP. */
async function copy(from: Element | null): Promise<boolean> {
  if (!from) return false;
  try {
    await navigator.clipboard.writeText(from.textContent ?? '');
    return true;
  } catch {
    getSelection()?.selectAllChildren(from);
    return false;
  }
}

/** Marks the visible section in the list "On this page". */
function markSectionInView(): void {
  const links = new Map(
    [...document.querySelectorAll<HTMLAnchorElement>('.contents a')].map((link) => [link.hash.slice(1), link]),
  );
  if (links.size === 0) return;
  const headings = [...document.querySelectorAll<HTMLElement>('.text h2[id]')];
  const mark = () => {
    const current =
      headings.findLast((heading) => heading.getBoundingClientRect().top < innerHeight / 3) ?? headings[0];
    for (const [id, link] of links) link.classList.toggle('here', id === current?.id);
  };
  new IntersectionObserver(mark, { rootMargin: '0px 0px -66% 0px' }).observe(document.body);
  addEventListener('scroll', mark, { passive: true });
  mark();
}

/** Scrolls the navigation to the current page, because the navigation is longer than most screens. */
function showCurrentPage(): void {
  const navigation = find<HTMLElement>('.navigation');
  const current = navigation?.querySelector<HTMLElement>('[aria-current]');
  if (!navigation || !current) return;
  const below = current.getBoundingClientRect().bottom - navigation.getBoundingClientRect().bottom;
  if (below > 0) navigation.scrollTop = below + navigation.clientHeight / 3;
}
