import { describe, expect, it } from 'vitest';
import { openDatabase, type Queryable } from '../../src/platform/db/database.js';
import { ofFile } from '../orders/stage-of-file.js';
import { freshDatabase } from '../support/database.js';

const fresh = ofFile(() => freshDatabase({ migrated: false }));
/** A single connection, so that each statement runs with the settings that remain after the previous statement. */
const database = ofFile(async () => openDatabase({ url: fresh.url, pool: 1, name: 'plans' }));

/** Returns true if sequential scans are allowed while a statement with this `byIndex` runs. */
async function mayScan(db: Queryable, byIndex: boolean | undefined): Promise<boolean> {
  const text = `select current_setting('enable_seqscan') = 'on' as "mayScan"`;
  const [row] = await db.query<{ mayScan: boolean }>(byIndex === undefined ? { text } : { text, byIndex });
  return row?.mayScan === true;
}

describe('enable_seqscan', () => {
  it('is chosen by each statement, whatever ran on the connection before', async () => {
    expect(await mayScan(database, true)).toBe(false);
    expect(await mayScan(database, false)).toBe(true);
    expect(await mayScan(database, true)).toBe(false);
    await database.transaction(async (tx) => {
      expect(await mayScan(tx, false)).toBe(true);
      expect(await mayScan(tx, true)).toBe(false);
    });
    expect(await mayScan(database, false)).toBe(true);
  });

  it('stays as it is for a statement that does not choose', async () => {
    for (const byIndex of [true, false]) {
      await mayScan(database, byIndex);
      expect(await mayScan(database, undefined)).toBe(!byIndex);
    }
  });

  it('is set again after a rollback, which has reset it', async () => {
    await mayScan(database, true);
    const failed = database.transaction(async (tx) => {
      expect(await mayScan(tx, false)).toBe(true);
      throw new Error('rolled back');
    });
    await expect(failed).rejects.toThrow('rolled back');
    expect(await mayScan(database, false)).toBe(true);

    await database.transaction(async (tx) => {
      expect(await mayScan(tx, true)).toBe(false);
      await tx.query('savepoint before');
      expect(await mayScan(tx, false)).toBe(true);
      await tx.query('rollback to savepoint before');
      expect(await mayScan(tx, false)).toBe(true);
    });
  });
});
