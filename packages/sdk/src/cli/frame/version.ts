import { createRequire } from 'node:module';

/** Reads the version from package.json, which is found both from the sources and from the bundle. */
export function readVersion(): string {
  const { version } = createRequire(import.meta.url)('perennial-channel/package.json') as { version: string };
  return version;
}
