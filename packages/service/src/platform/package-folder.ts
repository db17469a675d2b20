import { existsSync } from 'node:fs';

/** Folder of this package. Searched upwards, because a program may be one file or many. */
export const PACKAGE_FOLDER: URL = (() => {
  for (let folder = new URL('.', import.meta.url); ; ) {
    if (existsSync(new URL('package.json', folder))) return folder;
    const above = new URL('..', folder);
    if (above.href === folder.href) throw new Error(`no folder above ${import.meta.url} has a package.json`);
    folder = above;
  }
})();
