// Whenever the shop says that the order has changed, its part of the page is fetched again.
const live = document.querySelector('[data-live]');

new EventSource(live.dataset.live).addEventListener('message', async () => {
  const text = await (await fetch(location.pathname)).text();
  const fresh = new DOMParser().parseFromString(text, 'text/html').querySelector('[data-live]');
  if (!fresh) return;
  // What somebody has opened stays open.
  for (const { id } of live.querySelectorAll('details[open]')) fresh.querySelector(`#${id}`)?.setAttribute('open', '');
  live.replaceChildren(...fresh.childNodes);
});
