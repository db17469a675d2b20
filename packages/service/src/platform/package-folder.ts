import { existsSync } from 'node:fs';

/** The folder of this package. Searches upwards, because the program may be bundled into one file or not. */
export const PACKAGE_FOLDER: URL = (() => {
  for (let folder = new URL('.', import.meta.url); ; ) {
    if (existsSync(new URL('package.json', folder))) return folder;
    const above = new URL('..', folder);
    if (above.href === folder.href) throw new Error(`no folder above ${import.meta.url} has a package.json`);
    folder = above;
  }
})();
