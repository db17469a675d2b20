// A node of the service, from the compiled code, with three additional write endpoints. Tests use it to check
// idempotency from outside: over real connections, from several processes, and through a kill -9. Settings come from
// the environment as usual; LEDGER_OPTIONS has the options of the idempotency mechanism.
import { createHmac } from 'node:crypto';
import { CODES, Rejection, Type } from '@perennial/wire';
import { createDescribedRoute, createRoute } from '../../dist/http/routes.js';
import { systemClock } from '../../dist/platform/clock.js';
import { openDatabaseFromSettings } from '../../dist/platform/installation/open-database.js';
import { createLog } from '../../dist/platform/log/log.js';
import { readSettings } from '../../dist/platform/settings.js';
import { createService } from '../../dist/service.js';

const settings = readSettings();
const log = createLog(settings.logLevel);
const opened = await openDatabaseFromSettings(settings, { role: 'service', log: () => {} });
const { database } = opened;
await database.transaction(async (tx) => {
  await tx.query('select pg_advisory_xact_lock(2)');
  await tx.query(
    'create table if not exists test_ledger (serial bigint generated always as identity, ref text, state text)',
  );
  await tx.query('create table if not exists test_calls (ref text)');
});

const request = Type.Object({
  ref: Type.String({ maxLength: 1024 }),
  /** The number of an advisory lock that the test holds. The endpoint waits for it. */
  gate: Type.Optional(Type.Integer()),
  reject: Type.Optional(Type.String()),
  fault: Type.Optional(Type.Boolean()),
});
const response = Type.Object({ ref: Type.String(), serial: Type.Integer() });
const endpoint = (name) => ({
  name,
  path: `/openapi/v1/${name}`,
  summary: 'test',
  token: true,
  write: true,
  request,
  response,
  codes: [],
});

const pass = async (db, gate) => {
  if (gate !== undefined) await db.query('select pg_advisory_xact_lock($1)', [gate]);
};

async function addRow(tx, ref, state) {
  const [row] = await tx.query('insert into test_ledger (ref, state) values ($1, $2) returning serial', [ref, state]);
  return row.serial;
}

/** Stores effect and answer in one transaction. */
const add = async ({ once, answer }, { ref, gate, reject, fault }) =>
  database.transaction(async (tx) => {
    const serial = await addRow(tx, ref, 'DONE');
    await pass(tx, gate);
    if (reject) throw new Rejection(reject);
    if (fault) throw new Error('a fault on purpose');
    return once.finish(tx, answer({ ref, serial }));
  });

/** Runs a first transaction, an external call and a second transaction. */
const twoStep = async ({ once, answer }, { ref, gate, fault }) => {
  const subject = once.interrupted ?? ref;
  if (once.interrupted === undefined) {
    await database.transaction(async (tx) => {
      await addRow(tx, ref, 'BEGUN');
      await once.begin(tx, subject);
    });
  }
  // The external system is a table that is written outside the endpoint's transactions. A second call with the same
  // subject has no effect, as at an institution.
  await database.query(
    'insert into test_calls (ref) select $1 where not exists (select from test_calls where ref = $1)',
    [subject],
  );
  await pass(database, gate);
  if (fault && once.interrupted === undefined) throw new Error('a fault on purpose');
  return database.transaction(async (tx) => {
    const [row] = await tx.query(`update test_ledger set state = 'DONE' where ref = $1 returning serial`, [subject]);
    return once.finish(tx, answer({ ref: subject, serial: row.serial }));
  });
};

/**
 * Like `add`, but its answer has a megabyte and is signed with the channel's secret. Only a description of the answer
 * is stored.
 */
const describe = async ({ once, answer, place }, { ref }) =>
  database.transaction(async (tx) => {
    place.reserve();
    return once.finish(tx, answer({ ref, serial: await addRow(tx, ref, 'DONE') }));
  });
const render = function* (channel, { ref, serial }) {
  const signature = createHmac('sha256', channel.callbackSecret).update(ref).digest('base64');
  yield `{"ref":${JSON.stringify(ref)},"serial":${serial},"signature":"${signature}","numbers":[0`;
  for (let n = 1; n < 10_000; n += 1) yield `,${String(n).padStart(100, '1')}`;
  yield ']}';
};

const service = createService({
  ...settings,
  ...opened,
  clock: systemClock,
  publicUrl: () => 'https://pay.example',
  log,
  testLimits: {
    // Limits so high that a slow machine causes no refusals.
    load: { alwaysAllowed: 100_000, patienceMs: 300_000 },
    idempotency: JSON.parse(process.env['LEDGER_OPTIONS'] ?? '{}'),
  },
  moreRoutes: [
    createRoute(endpoint('test/add'), add),
    createRoute(endpoint('test/two-step'), twoStep),
    createDescribedRoute(endpoint('test/describe'), describe, render),
  ],
});
await service.server.listen({ host: '127.0.0.1', port: settings.port });
process.stdout.write(`${JSON.stringify({ ready: CODES.SUCCESS.code, port: service.server.server.address().port })}\n`);
process.once('SIGTERM', async () => {
  await service.stop();
  await opened.close();
  process.exit(0);
});
