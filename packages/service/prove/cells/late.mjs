import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

const EVERY_MS = 50;

/**
 * Writes to a database by the address of one server, as a program does that knows no other. Keeps its session while it
 * can, and connects again when it has lost it.
 */
export function startLateWriter(url) {
  const confirmed = [];
  let stopping = false;
  let client;

  async function connect() {
    const one = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000, query_timeout: 5_000 });
    const forget = () => {
      if (client === one) client = undefined;
    };
    one.on('error', forget);
    one.on('end', forget);
    await one.connect();
    return one;
  }

  const running = (async () => {
    for (let n = 1; !stopping; n += 1) {
      try {
        client ??= await connect();
        await client.query('insert into prove_late values ($1)', [n]);
        confirmed.push(n);
      } catch {
        // Refused, cut off, or a replica: it tries again.
      }
      await delay(EVERY_MS);
    }
    await client?.end().catch(() => undefined);
  })();

  return {
    /** Resolves with the numbers whose write was confirmed. */
    async stop() {
      stopping = true;
      await running;
      return confirmed;
    },
  };
}

const TABLES = `select format('%I.%I', schemaname, tablename) as name from pg_tables
  where schemaname not in ('pg_catalog', 'information_schema')`;

const MARK = `select s.xmin::text as id from pg_shdescription s join pg_database d on d.oid = s.objoid
  where s.classoid = 'pg_database'::regclass and d.datname = $1`;

/**
 * Counts the rows of a fenced database that were written after the transaction that marked `marked` on that server.
 * Reads a copy, so that the fence stays.
 */
export async function countWritesAfterMark(server, { database, marked }) {
  const [mark] = await server.query(MARK, [marked]);
  if (mark === undefined) throw new Error(`${marked} has no mark`);
  await server.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = $1`, [database]);
  await server.query(`create database prove_copy template ${database}`);
  let sum = 0;
  for (const { name } of await server.query(TABLES, [], 'prove_copy')) {
    const text = `select count(*)::integer as n from ${name} where age(xmin) < age($1::xid)`;
    const [{ n }] = await server.query(text, [mark.id], 'prove_copy');
    sum += n;
  }
  await server.query('drop database prove_copy');
  return sum;
}
