/**
 * After a new build of the service, an open page may ask for files that no longer exist. The page is then reloaded,
 * once per build: `import.meta.url` names the build, so a build that still lacks the files does not cause a reload
 * loop.
 */
const KEY = 'perennial-console-reloaded';

let lacksFiles = false;

export function watchForMissingFiles(): void {
  // Not immediately, because the missing page may only have been preloaded while another page is being filled in.
  addEventListener('vite:preloadError', () => {
    lacksFiles = true;
  });
}

/** Reloads the page if an error is due to missing files. */
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

/** Returns false if this build was already reloaded, or if the browser cannot remember it. */
function rememberReload(): boolean {
  try {
    if (sessionStorage.getItem(KEY) === import.meta.url) return false;
    sessionStorage.setItem(KEY, import.meta.url);
    return true;
  } catch {
    return false;
  }
}
