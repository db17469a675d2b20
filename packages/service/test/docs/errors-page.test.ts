import { resultCodes } from '@perennial/wire';
import { describe, expect, it } from 'vitest';
import { readPage, tableRows } from './pages.js';

interface PageRow {
  readonly code: string;
  readonly name: string;
  readonly http: number;
  readonly when: string;
  readonly then: string;
}

async function rowsOfPage(): Promise<PageRow[]> {
  const rows = tableRows(await readPage('docs/errors.md'));
  return rows.map(([code = '', name = '', http = '', when = '', then = '']) => ({
    code,
    name,
    http: Number(http),
    when,
    then,
  }));
}

describe('docs/errors.md', () => {
  it('lists every code of the registry, with its name and HTTP status, and no other', async () => {
    const page = (await rowsOfPage()).map(({ code, name, http }) => ({ code, name, http }));
    const registry = resultCodes.map(({ code, name, http }) => ({ code, name, http }));
    expect(sorted(page)).toEqual(sorted(registry));
  });

  it('says for every code when it is answered and what the caller does', async () => {
    for (const { code, when, then } of await rowsOfPage()) {
      expect(when, code).not.toBe('');
      expect(then, code).not.toBe('');
    }
  });
});

function sorted<T extends { readonly code: string }>(rows: readonly T[]): T[] {
  return rows.toSorted((a, b) => Number(a.code) - Number(b.code));
}
