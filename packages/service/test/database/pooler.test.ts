import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/platform/db/database.js';
import { ofEachTest } from '../orders/stage-of-file.js';
import { channelClient } from '../support/channel-client.js';
import { collectRequest } from '../support/demo.js';
import { installation } from '../support/installation.js';
import { openingRefusal } from '../support/opening-refusal.js';
import { pgbouncer } from '../support/pgbouncer.js';
import { serviceUrl } from '../support/processes.js';

const fresh = ofEachTest(() => installation());

async function pooled(settings: Record<string, string>): Promise<string> {
  const pooler = await pgbouncer(fresh.url, settings);
  onTestFinished(() => pooler.close());
  return pooler.url;
}

const serve = (url: string) => fresh.node({ DATABASE_URL: url });

/** Settings of a session, as the server shows them. */
const SETTINGS = `select current_setting('TimeZone') as zone, current_setting('statement_timeout') as statement,
  current_setting('lock_timeout') as lock, current_setting('random_page_cost') as cost,
  current_setting('search_path') as path`;

describe('a pgbouncer that pools sessions', () => {
  it('with its defaults: the service starts, and orders have the times of Asia/Shanghai', async () => {
    const baseUrl = await serviceUrl(serve(await pooled({ pool_mode: 'session' })));
    const client = channelClient(baseUrl, await fresh.demo());
    const { data } = await client.call('orders/create', collectRequest(client));
    const [{ paidAt }] = (await client.call('orders/query', { orderNo: data.orderNo })).data.paymentRecords;
    expect(paidAt).toBe(data.createTime);
  });

  it('that drops startup options: each connection has the settings of the service and of the URL', async () => {
    const url = new URL(await pooled({ pool_mode: 'session', ignore_startup_parameters: 'options' }));
    url.searchParams.set('options', '-c search_path=public,pg_temp');
    const database = openDatabase({ url: url.href, pool: 2, name: 'pooled' });
    onTestFinished(() => database.close());
    const rows = await Promise.all([database.query(SETTINGS), database.query(SETTINGS)]);
    const expected = { zone: 'Asia/Shanghai', statement: '6s', lock: '5s', cost: '1', path: 'public,pg_temp' };
    expect(rows).toEqual([[expected], [expected]]);
  });

  it('that does not reset sessions between clients: refused, in one line', async () => {
    const url = await pooled({ pool_mode: 'session', server_reset_query: '' });
    const first = openDatabase({ url, pool: 1, name: 'first' });
    await first.query('select');
    await first.close();
    const running = serve(url);
    expect(await running.exited).toBe(1);
    expect(running.stderr()).toContain('server_reset_query');
  });
});

describe('refused, in one line that says what to set', () => {
  it.each([
    ['that pools transactions', { pool_mode: 'transaction' }],
    [
      'that pools transactions and drops startup options',
      { pool_mode: 'transaction', ignore_startup_parameters: 'options' },
    ],
    [
      'that pools transactions over sessions in turn',
      { pool_mode: 'transaction', server_round_robin: '1', min_pool_size: '3' },
    ],
    ['that pools statements', { pool_mode: 'statement' }],
  ])('a pgbouncer %s', async (_which, settings) => {
    expect(await openingRefusal({ ...fresh.env, DATABASE_URL: await pooled(settings) })).toBe(
      'DATABASE_URL: the pooler spreads the statements of one connection over several sessions: set it to pool sessions ' +
        '(pgbouncer: pool_mode=session, and server_reset_query=DISCARD ALL)',
    );
  });
});
