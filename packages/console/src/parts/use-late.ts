import { useEffect, useEffectEvent, useState } from 'react';
import { queryClient } from '../api/query-client.ts';
import { dictionary } from '../i18n/dictionary.ts';
import { reloadIfFilesAreMissing } from '../stale-build.ts';
import { notifyProblem } from './notify.ts';

const texts = dictionary({
  missing: ['A part of the console could not be loaded. Reload the page.', '部分功能无法加载，请刷新页面。'],
});

/** The interval at which to check whether the page still waits for data. */
const CHECK_EVERY_MS = 1_500;

let settled: Promise<void> | undefined;

/** Resolves when the page has its first data and the browser is idle. */
export function pageSettled(): Promise<void> {
  settled ??= new Promise((resolve) => {
    const check = () => {
      if (queryClient.isFetching() > 0) setTimeout(check, CHECK_EVERY_MS);
      // Safari has no `requestIdleCallback`.
      else if ('requestIdleCallback' in window) requestIdleCallback(() => resolve(), { timeout: CHECK_EVERY_MS });
      else resolve();
    };
    setTimeout(check, CHECK_EVERY_MS);
  });
  return settled;
}

/** Shows that a file of the console could not be loaded, and reloads the page if a new build has replaced the files. */
export function reportMissingFile(): void {
  notifyProblem(new Error(texts.now()('missing')));
  reloadIfFilesAreMissing();
}

/**
 * Returns a component from a file that is loaded when the page is idle, and returned only after it was first wanted.
 * Until then returns undefined. Each change of `wanted` to a truthy value starts another attempt to load the file.
 */
export function useLate<T>(
  load: () => Promise<{ readonly default: T }>,
  wanted: boolean | number,
  onMissing: () => void = () => undefined,
): T | undefined {
  const [component, setComponent] = useState<T>();
  const reportMissing = useEffectEvent(() => {
    reportMissingFile();
    onMissing();
  });
  useEffect(
    () =>
      void pageSettled()
        .then(load)
        .catch(() => undefined),
    [load],
  );
  useEffect(() => {
    if (wanted) load().then((file) => setComponent(() => file.default), reportMissing);
  }, [wanted, load]);
  return component;
}
