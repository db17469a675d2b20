import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/platform/db/database.js';
import { DATABASE_FAILURES } from '../../src/platform/db/failures.js';
import type { ChannelClient, Reply } from '../support/channel-client.js';
import { type TestService, testService } from '../support/service.js';
import { DONE, testRoute } from '../support/test-endpoint.js';

/** The statements that the next request to the test's endpoint runs. */
let ask: (run: (statement: string) => Promise<unknown>) => Promise<unknown>;
let service: TestService;
let channel: ChannelClient;
beforeAll(async () => {
  service = await testService({
    moreRoutes: [
      testRoute('test/alone', async ({ database, answer }) => {
        await ask((statement) => database.query(statement));
        return answer(DONE);
      }),
      testRoute('test/together', async ({ database, answer }) => {
        await database.transaction((tx) => ask((statement) => tx.query(statement)));
        return answer(DONE);
      }),
    ],
  });
  channel = await service.channel();
});
afterAll(() => service.close());

const raising = (state: string) =>
  `do $do$ begin raise exception 'it quotes card 6222020000001234567' using errcode = '${state}'; end $do$`;

const expectUnavailable = (reply: Reply) =>
  expect([reply.status, reply.code, reply.headers['retry-after'], reply.data]).toEqual([503, '503001', '1', null]);

describe('503001 for a statement that fails with', () => {
  const states = DATABASE_FAILURES.filter(({ routine }) => routine === undefined);
  it.each(states.map(({ state, why }) => [state.padEnd(5, '0'), why]))('%s: %s', async (state) => {
    ask = (run) => run(raising(state));
    for (const name of ['test/alone', 'test/together']) {
      const reply = await channel.call(name, { orderNo: '1' });
      expectUnavailable(reply);
      // Looks for this part of the card number, because it is too long to be in a request id by chance.
      expect(reply.text).not.toContain('6222020');
    }
    ask = (run) => run('select 1');
    expect((await channel.call('test/together', { orderNo: '1' })).code).toBe('0');
  });
});

describe('500001 for a wrong statement', () => {
  it.each(['42601', '23505', '22003', '0A000', 'XX000', '01000'])('%s', async (state) => {
    ask = (run) => run(raising(state));
    const reply = await channel.call('test/alone', { orderNo: '1' });
    expect([reply.status, reply.code]).toEqual([500, '500001']);
  });
});

describe('a statement that was prepared before the schema changed', () => {
  const FIND = { name: 'find-thing', text: 'select * from things' };

  /** Creates a table, prepares a statement on every connection and then changes the table's columns. */
  async function changedTable(name: string) {
    const database = openDatabase({ url: service.fresh.url, pool: 2, name });
    await database.query('create table things (one integer)');
    await Promise.all([database.query(FIND), database.query(FIND)]);
    await service.fresh.database.query('alter table things add column two integer');
    return {
      database,
      async [Symbol.asyncDispose]() {
        await database.query('drop table things');
        await database.close();
      },
    };
  }

  it('is prepared again without an error', async () => {
    await using changed = await changedTable('alone');
    expect(await changed.database.query(FIND)).toEqual([]);
    expect(await Promise.all([1, 2, 3].map(() => changed.database.query(FIND)))).toEqual([[], [], []]);
  });

  it('fails its transaction once, as retryable', async () => {
    await using changed = await changedTable('together');
    const together = () => changed.database.transaction((tx) => tx.query(FIND));
    await expect(together()).rejects.toThrow(/^outdated: .*migrated the schema \(0A000\)$/);
    expect(await together()).toEqual([]);
    expect(await together()).toEqual([]);
  });
});

it('a transaction with a swallowed error does not count as committed', async () => {
  ask = async (run) => {
    await run(raising('22003')).catch(() => undefined);
  };
  const reply = await channel.call('test/together', { orderNo: '1' });
  expect([reply.status, reply.code]).toEqual([500, '500001']);
});
