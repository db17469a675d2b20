// Applies the reader's colour scheme before the first paint.
try {
  const chosen = localStorage.getItem('theme');
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset['theme'] = chosen;
} catch {
  // The browser offers no storage: the page uses the colour scheme of the device.
}
