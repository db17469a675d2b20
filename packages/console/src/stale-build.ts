/**
 * The storage key that records the last build for which the page was reloaded. After a new build of the service, an
 * open page may ask for files that no longer exist. The page is then reloaded, but only once per build, so that a build
 * whose files are missing causes no reload loop. `import.meta.url` identifies the build.
 */
const KEY = 'perennial-console-reloaded';

let lacksFiles = false;

export function watchForMissingFiles(): void {
  // Does not reload at once: the missing page may only have been preloaded, while the operator fills in another page.
  addEventListener('vite:preloadError', () => {
    lacksFiles = true;
  });
}

/** Reloads the page if one of the console's files was missing. Called after an error. */
export function reloadIfFilesAreMissing(): void {
  if (lacksFiles && rememberReload()) reloadPage();
}

/** Reloads the page only if the service answers, because otherwise the browser would show its own error page. */
export function reloadPage(): void {
  fetch(import.meta.env.BASE_URL, { cache: 'no-store' }).then(
    ({ ok }) => ok && location.reload(),
    () => undefined,
  );
}

/**
 * Records the reload. Returns false if the page was already reloaded for this build, or if the browser stores nothing.
 */
function rememberReload(): boolean {
  try {
    if (sessionStorage.getItem(KEY) === import.meta.url) return false;
    sessionStorage.setItem(KEY, import.meta.url);
    return true;
  } catch {
    return false;
  }
}
