// Fetches the order's part of the page again whenever the shop reports a change.
const live = document.querySelector('[data-live]');
let asked = 0;
let shown = 0;

new EventSource(live.dataset.live).addEventListener('message', async () => {
  asked += 1;
  const mine = asked;
  const text = await fetch(location.pathname).then(
    (response) => response.text(),
    // The shop stopped, or the page is being left. The shop reports a change whenever the page connects again.
    () => '',
  );
  const fresh = new DOMParser().parseFromString(text, 'text/html').querySelector('[data-live]');
  // An answer that arrives after a newer answer is older than the page.
  if (!fresh || mine < shown) return;
  shown = mine;
  // Keeps opened details open.
  for (const { id } of live.querySelectorAll('details[open]')) fresh.querySelector(`#${id}`)?.setAttribute('open', '');
  live.replaceChildren(...fresh.childNodes);
});
