import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { deliveryStatuses, eventTypes } from '@perennial/wire';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventList, LISTED_EVENT_ROW } from '../../src/delivery/history/list-sql.js';
import { declaredStatements, type Statement } from '../../src/platform/db/statement.js';
import { type FreshDatabase, freshDatabase } from '../support/database.js';
import { packageRoot } from '../support/processes.js';

const source = path.join(packageRoot, 'src');
const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));

let fresh: FreshDatabase;
let client: pg.Client;

beforeAll(async () => {
  // Loads all modules, because they declare their statements when they are loaded. Skips programs, which would run.
  for (const file of files) if (!file.endsWith('main.ts')) await import(path.join(source, file));
  fresh = await freshDatabase();
  client = new pg.Client(fresh.url);
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await fresh.close();
});

/** Asks PostgreSQL for the types of a statement's parameters and columns. */
async function describeStatement({ text, after = [] }: Pick<Statement, 'text' | 'after'>) {
  await client.query('begin');
  try {
    for (const table of after) await client.query(table);
    await client.query(`prepare described as ${text}`);
    const { rows } = await client.query<{ parameters: string[]; results: string[] | null }>(
      `select parameter_types::text[] as parameters, result_types::text[] as results
       from pg_prepared_statements where name = 'described'`,
    );
    await client.query('deallocate described');
    const names = await columnNames(text);
    const { parameters = [], results } = rows[0] ?? {};
    return { parameters, columns: Object.fromEntries(names.map((name, place) => [name, results?.[place]])) };
  } finally {
    await client.query('rollback; deallocate all');
  }
}

/** Returns the column names from a Describe message, which does not run the statement. */
function columnNames(text: string): Promise<string[]> {
  return new Promise((resolve, reject) => {
    let names: string[] = [];
    const describeOnly = {
      submit(connection: pg.Connection) {
        connection.parse({ text, name: '', types: [] }, true);
        connection.describe({ type: 'S', name: '' }, true);
        connection.sync();
      },
      handleRowDescription(description: { fields: { name: string }[] }) {
        names = description.fields.map(({ name }) => name);
      },
      handleError: reject,
      handleReadyForQuery: () => resolve(names),
    };
    client.query(describeOnly as unknown as pg.Submittable);
  });
}

const withoutNull = (types: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(types).map(([name, type]) => [name, type.replace(/\?$/, '')]));

describe('statements', () => {
  it('have the parameters and columns that they declare, by name and type', async () => {
    const statements = declaredStatements();
    expect(statements.length).toBeGreaterThan(250);
    const wrong: unknown[] = [];
    for (const one of statements) {
      const declared = { parameters: [...one.parameters], columns: withoutNull(one.columns.types) };
      const found = await describeStatement(one).catch((error: Error) => error.message);
      // A statement that declares no columns may return any columns, because its callers only count rows.
      const isUnread = Object.keys(declared.columns).length === 0;
      const compared = typeof found !== 'string' && isUnread ? { ...found, columns: {} } : found;
      if (JSON.stringify(compared) !== JSON.stringify(sorted(declared, compared))) {
        wrong.push({ text: one.text.trim().slice(0, 160), declared, found });
      }
    }
    expect(wrong).toEqual([]);
  });

  it('a list of events has the same columns with every filter', async () => {
    const either = <T>(value: T): (T | undefined)[] => [undefined, value];
    const columns = withoutNull(LISTED_EVENT_ROW.types);
    for (const orderNo of either(1))
      for (const eventType of [undefined, ...eventTypes])
        for (const status of [undefined, ...deliveryStatuses])
          for (const from of either(0))
            for (const to of either(0))
              for (const after of either([0, 1] as const)) {
                const { text } = eventList(1, { orderNo, eventType, status, from, to }, 10, { after, offset: 0 });
                const found = await describeStatement({ text });
                expect(found.columns, text).toEqual(columns);
              }
  });

  it('have unique names', () => {
    const names = declaredStatements().flatMap(({ name }) => name ?? []);
    expect(names.filter((name, place) => names.indexOf(name) !== place)).toEqual([]);
  });

  /** Commands that cannot be prepared: settings, savepoints, cursors, changes of a database. */
  const COMMAND =
    /^(set (local|transaction) |analyze\b|savepoint |release savepoint |rollback to savepoint |truncate |declare |fetch |alter (system|database) |comment on )/;

  /** Files that create, move and copy tables whose names are known only at run time. */
  const TABLE_BY_TABLE =
    /^(platform\/(schema|db)\/|operator\/(copies\/numbers|cells\/catalogue)-sql\.ts$|engine\/housekeeping\/(stray-rows|tables-by-time)\.ts$)/;

  it('are declared, except for commands and for tables whose names are known only at run time', () => {
    const found = files
      .filter((file) => !TABLE_BY_TABLE.test(file))
      .flatMap((file) =>
        [...readFileSync(path.join(source, file), 'utf8').matchAll(/\.query(?:<[^(]*>)?\(\s*[`'{]([^`']*)/g)]
          .filter(([, text = '']) => !COMMAND.test(text))
          .map(([, text]) => `${file}: ${text}`),
      );
    expect(found).toEqual([]);
  });
});

/**
 * Returns the declaration with its columns in PostgreSQL's order, so that a different order of columns does not count
 * as a difference.
 */
function sorted(declared: { parameters: string[]; columns: Record<string, string> }, found: unknown) {
  const order = Object.keys((found as { columns?: object }).columns ?? {});
  const rank = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length);
  return {
    parameters: declared.parameters,
    columns: Object.fromEntries(Object.entries(declared.columns).toSorted(([a], [b]) => rank(a) - rank(b))),
  };
}
