/* What the page can do better with a script. Everything works without it. */

/** Old web views have no clipboard of their own: what is selected can be copied in all of them. */
async function copyText(text, element) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    getSelection()?.selectAllChildren(element);
    return document.execCommand('copy');
  }
}

/** A button that says for a moment that it has copied something. */
function makeCopyButton(button, says, text, element) {
  const label = button.textContent;
  let timer;
  button.hidden = false;
  button.setAttribute('aria-live', 'polite');
  button.addEventListener('click', async () => {
    if (!(await copyText(text, element))) return;
    button.textContent = says;
    clearTimeout(timer);
    timer = setTimeout(() => {
      button.textContent = label;
    }, 2000);
  });
}

for (const button of document.querySelectorAll('button[data-copy]')) {
  const code = button.previousElementSibling;
  makeCopyButton(button, button.dataset.copy, code.textContent, code);
}

/** The link to keep. Without a clipboard its text could not be copied: only the words of the link could. */
const toKeep = document.querySelector('a[data-link]');
for (const button of document.querySelectorAll('button[data-copy-link]')) {
  if (navigator.clipboard) makeCopyButton(button, button.dataset.copyLink, toKeep.href, toKeep);
}
for (const button of document.querySelectorAll('button[data-share]')) {
  if (!navigator.share) continue;
  button.hidden = false;
  // Who changes their mind has shared nothing, and nothing has to be said about it.
  button.addEventListener('click', () => navigator.share({ url: toKeep.href }).catch(() => undefined));
}

/** No answer takes longer than this: a press that was stopped on the way is forgotten, and the button works again. */
const LONGEST_ANSWER_MS = 20_000;

/** The second of two quick presses may meet the page after a claim, and another button under it: it was not meant for that. */
const SECOND_PRESS_MS = 500;
const opened = performance.now();
const isSecondPress = () => location.hash !== '' && performance.now() - opened < SECOND_PRESS_MS;

/** Offline, a form leads to the browser's error page. The page says it instead, and stays as it is. */
const offlineText = document.currentScript.dataset.offline;
function sayOffline() {
  document.getElementById('offline')?.remove();
  const notice = document.createElement('p');
  notice.id = 'offline';
  notice.className = 'notice';
  notice.role = 'alert';
  notice.textContent = offlineText;
  (document.querySelector('main .main') ?? document.querySelector('main')).prepend(notice);
  notice.scrollIntoView({ block: 'center' });
}
addEventListener('online', () => document.getElementById('offline')?.remove());

/** A second press while the first is on its way does nothing. */
for (const form of document.querySelectorAll('form')) {
  form.addEventListener('submit', (event) => {
    if (form.dataset.sent || isSecondPress()) {
      event.preventDefault();
      return;
    }
    if (!navigator.onLine) {
      event.preventDefault();
      sayOffline();
      return;
    }
    const { submitter } = event;
    form.dataset.sent = 'yes';
    submitter?.setAttribute('aria-busy', 'true');
    setTimeout(() => {
      delete form.dataset.sent;
      submitter?.removeAttribute('aria-busy');
    }, LONGEST_ANSWER_MS);
  });
}

/** A page that comes back from the browser's memory begins anew. */
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload();
});
