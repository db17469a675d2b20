import { vi } from 'vitest';
import * as node from '../src/platform/node.js';
import * as web from '../src/platform/web.js';

export type Platform = typeof node;

/** The two platforms. They must have the same type: if a function is missing or differs, this does not compile. */
export const platforms: readonly (readonly [name: string, platform: Platform])[] = [
  ['node', node],
  ['web', web satisfies Platform],
];

/** Loads the modules that import `#platform`, with this platform in its place. */
export async function loadOn(platform: Platform) {
  vi.resetModules();
  vi.doMock('#platform', () => ({ ...platform }));
  // Throws if the mock did not work: the tests would then run twice on the same platform.
  if ((await import('#platform')).sha256Hex !== platform.sha256Hex) throw new Error('#platform is not replaced');
  return {
    ...(await import('../src/signing.js')),
    ...(await import('../src/redeem-link.js')),
    ...(await import('../src/encrypted-fields.js')),
    ...(await import('../src/diagnosis/index.js')),
    ...(await import('../src/bridge/signing.js')),
  };
}

type Loaded = readonly [name: string, platform: Platform, wire: Awaited<ReturnType<typeof loadOn>>];

/** The two platforms with the modules that were loaded on them. */
export const loaded: Loaded[] = [];
for (const [name, platform] of platforms) loaded.push([name, platform, await loadOn(platform)]);

export function hex(text: string): Uint8Array {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

export function key(base64: string): Uint8Array {
  const bytes = node.fromBase64(base64);
  if (bytes === undefined) throw new Error('vector key is not base64');
  return bytes;
}
