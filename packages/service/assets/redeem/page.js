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

/** A second press while the first is on its way does nothing. */
for (const form of document.querySelectorAll('form')) {
  form.addEventListener('submit', (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = 'yes';
    event.submitter?.setAttribute('aria-busy', 'true');
  });
}

/** A page that comes back from the browser's memory begins anew. */
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload();
});
