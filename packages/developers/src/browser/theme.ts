// Before anything is painted: the scheme that the reader has chosen here before.
try {
  const chosen = localStorage.getItem('theme');
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset['theme'] = chosen;
} catch {
  // Without storage the device decides.
}
