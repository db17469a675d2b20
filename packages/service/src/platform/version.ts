import { readFileSync } from 'node:fs';
import { PACKAGE_FOLDER } from './package-folder.js';

const { name, version } = JSON.parse(readFileSync(new URL('package.json', PACKAGE_FOLDER), 'utf8'));

export const VERSION: string = version;
/** True in a clone, false in the published package. */
export const IS_CLONE: boolean = name === '@perennial/service';
