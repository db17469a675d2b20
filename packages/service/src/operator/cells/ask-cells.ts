import { timingSafeEqual } from 'node:crypto';
import type { Cell } from '../../platform/cells.js';
import type { Clock } from '../../platform/clock.js';
import type { Queryable } from '../../platform/db/database.js';
import { createKeyedHasher } from '../../platform/secrets/keyed-hasher.js';
import type { Vault } from '../../platform/secrets/vault.js';

/** Where a console answers other cells, below its API. */
export const CELL_OVERVIEW_PATH = '/cell-overview';

const TIMEOUT_MS = 4_000;
const MAX_AGE_MS = 60_000;

export type Problem = 'unreachable' | 'refused';

export interface CellAnswer {
  readonly cell: number;
  readonly consoleUrl: string | null;
  /** JSON of the other cell, which may be of another version. Undefined if there is a problem. */
  readonly answer?: unknown;
  readonly problem: Problem | null;
}

export interface CellAskerDeps {
  readonly database: Queryable;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly cell: number;
  readonly cells: readonly Cell[];
}

/**
 * Lets the consoles of cells read each other's figures. A request is signed with a key that all cells share, and is
 * accepted for a minute. It can only read.
 */
export function createCellAsker({ database, vault, clock, cell, cells }: CellAskerDeps) {
  const { hash } = createKeyedHasher(database, vault, 'cells');
  const sign = async (query: string, at: number) => hash(`${CELL_OVERVIEW_PATH}?${query}\n${at}`);

  async function askOne({ cell: other, console: consoleUrl }: Cell, query: string): Promise<CellAnswer> {
    const about = { cell: other, consoleUrl: consoleUrl ?? null };
    if (consoleUrl === undefined) return { ...about, problem: 'unreachable' };
    const at = clock.now();
    const signature = (await sign(query, at)).toString('hex');
    try {
      const response = await fetch(`${consoleUrl}/api${CELL_OVERVIEW_PATH}?${query}`, {
        headers: { authorization: `Cell ${at}.${signature}` },
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      if (!response.ok) return { ...about, problem: 'refused' };
      return { ...about, answer: await response.json(), problem: null };
    } catch {
      return { ...about, problem: 'unreachable' };
    }
  }

  return {
    cell,
    cells,
    /** Asks all other cells. */
    ask: (query: string): Promise<CellAnswer[]> =>
      Promise.all(cells.filter((one) => one.cell !== cell).map((one) => askOne(one, query))),
    /** Returns whether another cell has signed the request. */
    async isFromCell(query: string, authorization: string | undefined): Promise<boolean> {
      const [, at = '', signature = ''] = /^Cell (\d{1,15})\.([0-9a-f]{64})$/.exec(authorization ?? '') ?? [];
      if (cells.length === 0 || signature === '' || Math.abs(clock.now() - Number(at)) > MAX_AGE_MS) return false;
      return timingSafeEqual(Buffer.from(signature, 'hex'), await sign(query, Number(at)));
    },
  };
}

export type CellAsker = ReturnType<typeof createCellAsker>;
