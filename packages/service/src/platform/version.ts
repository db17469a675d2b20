import { readFileSync } from 'node:fs';
import { PACKAGE_FOLDER } from './package-folder.js';

export const VERSION: string = JSON.parse(readFileSync(new URL('package.json', PACKAGE_FOLDER), 'utf8')).version;
