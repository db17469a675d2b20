import { existsSync } from 'node:fs';

/** Of this package, where its migrations and assets lie: found upwards, since a program may be one file or many. */
export const PACKAGE_FOLDER: URL = (() => {
  let folder = new URL('.', import.meta.url);
  while (!existsSync(new URL('package.json', folder))) folder = new URL('..', folder);
  return folder;
})();
