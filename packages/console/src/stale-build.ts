/**
 * A service that was built anew has other files, and a page that was opened before asks for some that are gone. Then the page
 * is loaded anew, once: `import.meta.url` names the build, so one that still lacks them is not loaded over and over.
 */
const KEY = 'perennial-console-reloaded';

let lacksFiles = false;

export function watchForMissingFiles(): void {
  // Not at once: it may be a page that was only pointed at, while another is being filled in.
  addEventListener('vite:preloadError', () => {
    lacksFiles = true;
  });
}

/** For whatever could not be shown: if its files were missing, the page begins anew. */
export function reloadIfFilesAreMissing(): void {
  if (lacksFiles && rememberReload()) reloadPage();
}

/** Loads the page anew, if the service answers: otherwise there would be no page at all. */
export function reloadPage(): void {
  fetch(import.meta.env.BASE_URL, { cache: 'no-store' }).then(
    ({ ok }) => ok && location.reload(),
    () => undefined,
  );
}

/** False when this build was given up on before, or if this cannot be remembered. */
function rememberReload(): boolean {
  try {
    if (sessionStorage.getItem(KEY) === import.meta.url) return false;
    sessionStorage.setItem(KEY, import.meta.url);
    return true;
  } catch {
    return false;
  }
}
