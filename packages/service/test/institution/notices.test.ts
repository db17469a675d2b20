import { describe, expect, it } from 'vitest';
import { NoticeRefused } from '../../src/gateways/gateway.js';
import { until } from '../support/processes.js';
import {
  attached,
  control,
  debitOf,
  gatewayTo,
  ledgerOf,
  noticeEndpoint,
  spawnInstitution,
  temporaryFolder,
  understood,
} from './support.js';

const SUCCESS = { kind: 'debit', attemptNo: '1', outcome: { kind: 'success', amountCent: 1990 } };

async function settled(institution: { readonly url: string }): Promise<void> {
  await until('no notice is owed any more', async () => (await ledgerOf(institution)).owedNotices.length === 0);
}

describe('a notice', () => {
  it.each([
    ['0004', SUCCESS],
    ['0005', { kind: 'debit', attemptNo: '1', outcome: { kind: 'declined', decline: 'final' } }],
    ['0018', { kind: 'debit', attemptNo: '1', outcome: { kind: 'declined', decline: 'retryable' } }],
    ['0021', { kind: 'agreement-canceled', institutionNo: 'SHARED-0021' }],
  ])('of a debit with tail %s tells the result, once', async (tail, expected) => {
    const endpoint = await noticeEndpoint();
    const { institution, gateway } = await attached({ noticeUrl: endpoint.url });
    await gateway.debit(debitOf('1', tail));
    const [notice] = await endpoint.count(1);
    if (notice === undefined) throw new Error('no notice');
    expect(understood(gateway, notice)).toMatchObject(expected);
    await settled(institution);
    expect(endpoint.received).toHaveLength(1);
  });

  it('is replayed byte for byte (0010), and is valid both times', async () => {
    const endpoint = await noticeEndpoint();
    const { institution, gateway } = await attached({ noticeUrl: endpoint.url });
    await gateway.debit(debitOf('1', '0010'));
    const [first, second] = await endpoint.count(2);
    if (first === undefined || second === undefined) throw new Error('no notices');
    expect(second).toEqual(first);
    expect(understood(gateway, first)).toEqual(understood(gateway, second));
    await settled(institution);
  });

  it('waits until a query has returned the result (0011)', async () => {
    const endpoint = await noticeEndpoint();
    const { institution, gateway } = await attached({
      noticeUrl: endpoint.url,
      delays: { settleMs: 3_600_000 },
    });
    await gateway.debit(debitOf('1', '0011'));
    expect(await gateway.queryDebit(debitOf('1', '0011'))).toEqual({ kind: 'pending' });
    await control(institution, { action: 'settle', attemptNo: '1' });
    // The second debit settled later than the first, but the notice about the second arrives first.
    await gateway.debit(debitOf('2', '0004'));
    await control(institution, { action: 'settle', attemptNo: '2' });
    await endpoint.count(1);
    expect(await gateway.queryDebit(debitOf('1', '0011'))).toMatchObject({ kind: 'success' });
    const notices = (await endpoint.count(2)).map((notice) => understood(gateway, notice));
    expect(notices).toMatchObject([{ attemptNo: '2' }, SUCCESS]);
  });

  it('follows a forged one with the opposite result (0012), which is refused', async () => {
    const endpoint = await noticeEndpoint();
    const { gateway } = await attached({ noticeUrl: endpoint.url });
    await gateway.debit(debitOf('1', '0012'));
    const [forged, right] = await endpoint.count(2);
    if (forged === undefined || right === undefined) throw new Error('no notices');
    expect(JSON.parse(forged.body.toString())).toMatchObject({ attemptNo: '1', status: 'DECLINED' });
    expect(() => understood(gateway, forged)).toThrow(NoticeRefused);
    expect(understood(gateway, right)).toMatchObject(SUCCESS);
  });

  it('that was unsent at a kill -9 is sent after the next start, and a pending debit is settled', async () => {
    const refusing = await noticeEndpoint(Array.from({ length: 10_000 }, () => 500));
    const dataDir = await temporaryFolder();
    const first = await spawnInstitution({ dataDir, noticeUrl: refusing.url, delays: { settleMs: 3_600_000 } });
    const gateway = gatewayTo(first.url);
    await gateway.debit(debitOf('1', '0004'));
    await control(first, { action: 'settle', attemptNo: '1' });
    await control(first, { action: 'delays', delays: { settleMs: 0 } });
    await refusing.count(1);
    await gateway.debit(debitOf('2', '0005', { amountCent: 5 }));
    first.running.child.kill('SIGKILL');
    await first.running.exited;

    const accepting = await noticeEndpoint();
    const second = await spawnInstitution({ dataDir, noticeUrl: accepting.url });
    const received = await accepting.count(2);
    const numbers = received
      .map((notice) => understood(gateway, notice))
      .map((one) => 'attemptNo' in one && one.attemptNo);
    expect(numbers.toSorted()).toEqual(['1', '2']);
    await settled(second);
    expect((await ledgerOf(second)).debits).toMatchObject([
      { attemptNo: '1', status: 'SUCCESS', debitedCent: 1990 },
      { attemptNo: '2', status: 'DECLINED', debitedCent: 0 },
    ]);
  });
});
