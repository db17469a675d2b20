import { trimSlashes } from '@perennial/wire';
import { PACKAGE_FOLDER } from '../../platform/package-folder.js';
import type { Environment } from '../../platform/settings.js';
import { escapeHtml } from '../../redeem/html.js';
import { createStaticFiles } from '../answers/static-files.js';

const FOLDER = new URL('dist/pages/developers/', PACKAGE_FOLDER);

const ONLY_IN_PRODUCTION = /<p class="callout only-production">[^<]*<\/p>/g;

export interface Installation {
  /** URL at which channels and users reach the service. */
  readonly publicUrl: () => string;
  readonly environment: Environment;
  readonly currency: string;
}

export function createDevelopersFiles({ publicUrl, environment, currency }: Installation) {
  return createStaticFiles(FOLDER, (text, type) => {
    const write = type.startsWith('text/html') ? escapeHtml : escapeJson;
    return text
      .replaceAll(ONLY_IN_PRODUCTION, (part) => (environment === 'production' ? part : ''))
      .replaceAll('__PUBLIC_URL__', () => write(publicUrl()))
      .replaceAll('__ROOT__', () => write(rootOf(publicUrl())))
      .replaceAll('__ENVIRONMENT__', environment)
      .replaceAll('__CURRENCY__', currency);
  });
}

/** The path prefix of all URLs, if the service is behind a proxy that removes this prefix. */
export const rootOf = (publicUrl: string): string => trimSlashes(new URL(publicUrl).pathname);

const escapeJson = (text: string): string => JSON.stringify(text).slice(1, -1);
