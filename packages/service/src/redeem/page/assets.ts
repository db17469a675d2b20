import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { PACKAGE_FOLDER } from '../../platform/package-folder.js';

export interface Asset {
  /** Contains a hash of the content, so that browsers may keep it for ever. */
  readonly name: string;
  readonly type: string;
  readonly bytes: Buffer;
}

const FOLDER = new URL('assets/redeem/', PACKAGE_FOLDER);

const readAsset = (stem: string, ending: string, type: string): Asset => {
  const bytes = readFileSync(new URL(`${stem}.${ending}`, FOLDER));
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 12);
  return { name: `${stem}.${hash}.${ending}`, type, bytes };
};

export const STYLE = readAsset('page', 'css', 'text/css; charset=utf-8');
export const SCRIPT = readAsset('page', 'js', 'text/javascript; charset=utf-8');

/** Of a seller without a logo. */
export const ICON = readAsset('icon', 'svg', 'image/svg+xml');

export const ASSETS: readonly Asset[] = [STYLE, SCRIPT, ICON];
