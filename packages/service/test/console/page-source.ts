import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageRoot } from '../support/processes.js';

/** Imports a module of the console's pages that needs no browser. */
// biome-ignore lint/suspicious/noExplicitAny: what a test does with it says what it is
export async function importPage(...names: readonly string[]): Promise<any> {
  return import(pathToFileURL(path.join(packageRoot, '..', 'console', 'src', ...names)).href);
}
