/* What the page can do better with a script. Everything works without it. */

/** Old web views have no clipboard of their own: what is selected can be copied in all of them. */
async function copyOf(element) {
  try {
    await navigator.clipboard.writeText(element.textContent);
    return true;
  } catch {
    getSelection()?.selectAllChildren(element);
    return document.execCommand('copy');
  }
}

for (const button of document.querySelectorAll('button[data-copy]')) {
  const label = button.textContent;
  let timer;
  button.hidden = false;
  button.setAttribute('aria-live', 'polite');
  button.addEventListener('click', async () => {
    if (!(await copyOf(button.previousElementSibling))) return;
    button.textContent = button.dataset.copy;
    clearTimeout(timer);
    timer = setTimeout(() => {
      button.textContent = label;
    }, 2000);
  });
}

/** No answer takes longer than this: a press that was stopped on the way is forgotten, and the button works again. */
const LONGEST_ANSWER_MS = 10_000;

/** The second of two quick presses may meet the page after a claim, and another button under it: it was not meant for that. */
const SECOND_PRESS_MS = 500;
const opened = performance.now();
const isSecondPress = () => location.hash !== '' && performance.now() - opened < SECOND_PRESS_MS;

/** A second press while the first is on its way does nothing. */
for (const form of document.querySelectorAll('form')) {
  form.addEventListener('submit', (event) => {
    if (form.dataset.sent || isSecondPress()) {
      event.preventDefault();
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
