import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageRoot } from '../support/processes.js';

/** A module of the console's pages that needs no browser. */
export async function importPage<T>(...names: readonly string[]): Promise<T> {
  return import(pathToFileURL(path.join(packageRoot, '..', 'console', 'src', ...names)).href);
}
