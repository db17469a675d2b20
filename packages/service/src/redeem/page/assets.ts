import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { PACKAGE_FOLDER } from '../../platform/package-folder.js';

const FOLDER = new URL('assets/redeem/', PACKAGE_FOLDER);

/** Reads a file. Its URL contains a hash of the content, so that browsers can cache it for ever. */
const readAsset = (stem: string, ending: string, type: string) => {
  const bytes = readFileSync(new URL(`${stem}.${ending}`, FOLDER));
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 12);
  return { name: `${stem}.${hash}.${ending}`, type, bytes };
};

export type Asset = ReturnType<typeof readAsset>;

export const STYLE = readAsset('page', 'css', 'text/css; charset=utf-8');
export const SCRIPT = readAsset('page', 'js', 'text/javascript; charset=utf-8');

/** The icon of sellers without a logo. */
export const ICON = readAsset('icon', 'svg', 'image/svg+xml');

export const ASSETS: readonly Asset[] = [STYLE, SCRIPT, ICON];
