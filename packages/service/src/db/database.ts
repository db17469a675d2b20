import pg from 'pg';
import { readAddress } from './address.js';
import { isNumberTaken, isUnconfirmedCommit, NumberTaken, Outdated, Unavailable, unavailableOf } from './failures.js';
import type { Statement, Transaction, Transactional, TransactionOptions } from './queryable.js';
import { moveSequences } from './sequences.js';
import { POOLED_STATEMENTS, prepareSession, type SessionSettings, STATEMENT_MS, UnfitConnection } from './session.js';
import { withSpans } from './statement-spans.js';
import { watchStatements } from './watch.js';

export { constraintOf, HeldUp, isAway, NumberTaken, sqlState, Unavailable } from './failures.js';
export type { Queryable, Statement, Transaction, Transactional, TransactionOptions } from './queryable.js';

export interface Database extends Transactional {
  readonly connections: { readonly total: number; readonly idle: number; readonly waiting: number };
  /** Throws Unavailable unless the database answers within so long. */
  ping(withinMs: number): Promise<void>;
  /** The version of the server, asked over two connections: throws UnfitConnection unless each keeps its session. */
  inspect(): Promise<{ readonly version: number }>;
  close(): Promise<void>;
}

// bigint as number: identifiers leave SQL as text; amounts and versions stay far below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, (text) => {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError('bigint beyond 2^53: select it as text');
  return value;
});

/** After what the database grants a statement. */
const GRACE_MS = 1_000;

/** For what is asked of a connection beside its work: whether it is fit for it, and to forget a transaction. */
const CHECK_MS = 4_000;

/** For work that nobody waits for. */
export const PATIENT_MS = 30_000;

export interface DatabaseOptions {
  readonly url: string;
  readonly pool: number;
  readonly name: string;
  /** In place of what each connection is given otherwise. */
  readonly settings?: SessionSettings;
  /** What a statement may take, if not as long as a caller waits. */
  readonly statementMs?: number;
  /** Told about connections that broke while nobody used them. */
  readonly onIdleError?: (error: Error) => void;
  /** Told when the database falls silent, and when it answers again. */
  readonly onSilence?: (isSilent: boolean) => void;
}

export function openDatabase(options: DatabaseOptions): Database {
  const { pool: max, name, onIdleError, onSilence, statementMs = STATEMENT_MS } = options;
  const { settings: asked, ...address } = readAddress(options.url);
  const settings = { ...asked, statement_timeout: `${statementMs}ms`, ...options.settings };
  /** Raised when connections that are open may be of no use: those from before it are not used again. */
  let generation = 0;
  const generations = new WeakMap<pg.ClientBase, number>();
  const broken = new WeakSet<pg.ClientBase>();
  const unconfirmed = new WeakSet<pg.ClientBase>();
  const sessions = new WeakMap<pg.ClientBase, Awaited<ReturnType<typeof prepareSession>>>();

  const config = { ...address, application_name: name, keepAlive: true };
  const watch = watchStatements({ config, onSilence }, (client) => {
    broken.add(client);
    // Where one is not answered, those that were opened with it will hardly be.
    generation += 1;
    return sessions.get(client)?.backend;
  });
  const pool = new pg.Pool({
    ...config,
    max,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 60_000,
    onConnect: prepare,
  });
  pool.on('error', (error) => onIdleError?.(error));

  async function prepare(client: pg.ClientBase): Promise<void> {
    generations.set(client, generation);
    // The pool listens to idle clients alone: one that breaks while it is checked out would end the process.
    client.on('error', () => broken.add(client));
    client.on('notice', (notice) => {
      if (isUnconfirmedCommit(notice)) unconfirmed.add(client);
    });
    await watched(client, CHECK_MS, async () => {
      sessions.set(client, await prepareSession(client, settings));
    });
  }

  async function watched<T>(client: pg.ClientBase, limitMs: number, work: () => Promise<T>): Promise<T> {
    watch.begin(client, limitMs);
    try {
      return await work();
    } catch (error) {
      const unavailable = unavailableOf(error) ?? (broken.has(client) ? lost(error) : undefined);
      if (unavailable instanceof Outdated) generation += 1;
      throw unavailable ?? error;
    } finally {
      watch.end(client);
    }
  }

  async function connect(): Promise<pg.PoolClient> {
    for (;;) {
      if (watch.isSilent) throw new Unavailable('database unavailable: it does not answer');
      // Whatever is the matter, nothing was asked of the database yet.
      const client = await pool.connect().catch((error: unknown) => {
        throw unavailableOf(error) ?? lost(error);
      });
      if (generations.get(client) === generation) return client;
      client.release(true);
    }
  }

  async function withClient<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await connect();
    let error: unknown;
    try {
      const result = await work(client);
      if (unconfirmed.has(client)) throw new Unavailable('the commit was not confirmed by the replicas');
      return result;
    } catch (caught) {
      error = caught;
    } finally {
      client.release(broken.has(client) || unconfirmed.has(client) || generations.get(client) !== generation);
    }
    if (!isNumberTaken(error)) throw error;
    await moveSequences(database);
    throw new NumberTaken('a sequence was behind its numbers', { cause: error });
  }

  const run = withSpans(runStatement);

  async function runStatement<Row>(
    client: pg.ClientBase,
    limitMs: number,
    statement: Statement,
    values: readonly unknown[] = [],
  ): Promise<Row[]> {
    const query = typeof statement === 'string' ? { text: statement } : statement;
    const { rows } = await watched(client, limitMs, () => client.query({ ...query, values: [...values] }));
    return rows as Row[];
  }

  async function inTransaction<T>(
    client: pg.ClientBase,
    work: (tx: Transaction) => Promise<T>,
    { statementMs: ownMs, readOnly = false }: TransactionOptions,
  ): Promise<T> {
    let limitMs = limitOf(ownMs ?? statementMs);
    const begin = `begin${readOnly ? ' read only' : ''}${ownMs === undefined ? '' : `; ${setLimit(ownMs)}`}`;
    await watched(client, limitMs, () => client.query(begin));
    try {
      const result = await work({
        query: (statement, values) => run(client, limitMs, statement, values),
        async allow(ms) {
          await run(client, limitMs, setLimit(ms));
          limitMs = limitOf(ms);
        },
      });
      const { command } = await watched(client, limitMs, () => client.query('commit'));
      // PostgreSQL answers so when a statement of the transaction has failed and nobody minded.
      if (command !== 'COMMIT') throw new Error(`a transaction ended with ${command}`);
      return result;
    } catch (error) {
      if (!broken.has(client)) {
        await watched(client, CHECK_MS, () => client.query('rollback')).catch(() => broken.add(client));
      }
      throw error;
    }
  }

  let pinging: Promise<unknown> | undefined;
  const database: Database = {
    async query(statement, values) {
      const once = () => withClient((client) => run<never>(client, limitOf(statementMs), statement, values));
      try {
        return await once();
      } catch (error) {
        if (!(error instanceof Outdated)) throw error;
        return await once();
      }
    },
    transaction: (work, transactionOptions = {}) =>
      withClient((client) => inTransaction(client, work, transactionOptions)),
    async ping(withinMs) {
      pinging ??= database.query('select').finally(() => {
        pinging = undefined;
      });
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Unavailable('database unavailable: it does not answer')), withinMs);
      });
      await Promise.race([pinging, late]).finally(() => clearTimeout(timer));
    },
    inspect: () =>
      withClient((one) =>
        // Opened while the first is held: a pooler of statements gives the second what the first has just used.
        withClient(async (other) => {
          for (const client of [one, other, one]) {
            const session = sessions.get(client);
            const isOurs = await watched(client, CHECK_MS, async () => session?.isStillOurs());
            if (!isOurs) throw new UnfitConnection(POOLED_STATEMENTS);
          }
          const [row] = await run<{ version: number }>(
            one,
            CHECK_MS,
            `select current_setting('server_version_num')::integer / 10000 as version`,
          );
          return { version: row?.version ?? 0 };
        }),
      ),
    get connections() {
      return { total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount };
    },
    close: async () => {
      await pool.end();
      watch.stop();
    },
  };
  return database;
}

const setLimit = (ms: number) => `set local statement_timeout = ${ms}`;
const limitOf = (ms: number) => (ms === 0 ? 0 : ms + GRACE_MS);

function lost(error: unknown): Unavailable {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  return new Unavailable(`database unavailable: ${code ?? (error instanceof Error ? error.message : error)}`, {
    cause: error,
  });
}
