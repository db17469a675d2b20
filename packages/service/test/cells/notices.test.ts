import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Notice } from '../../src/gateways/gateway.js';
import { ofFile } from '../orders/stage-of-file.js';
import { alerts, anotherChannel, paid, type Stage, stage } from '../orders/support.js';
import type { ChannelClient } from '../support/channel-client.js';
import { sharedAgreement, sharedRequest, unique } from '../support/demo.js';
import { becomeCell } from './support.js';

/** Cell 3 has the order; the institution sends its notices to cell 0. */
const two = ofFile(async () => {
  const there = await stage({ cell: 3, cells: [{ cell: 0 }, { cell: 3 }] });
  await becomeCell(there.service.fresh.database, 3);
  const here = await stage({ cell: 0, cells: [{ cell: 0 }, { cell: 3, url: there.service.baseUrl }, { cell: 4 }] });
  return { here, there, close: () => Promise.all([here.close(), there.close()]) };
});
let channel: ChannelClient;
beforeAll(async () => {
  channel = await anotherChannel(two.there.service);
});
beforeEach(() => {
  for (const { institution } of [two.here, two.there]) institution.reset();
});

const noticeOf = (attemptNo: string): Notice => ({
  kind: 'debit',
  attemptNo,
  outcome: paid({ attemptNo, amountCent: 1990, startedAt: Date.UTC(2026, 0, 31, 4) } as never),
});
const alertsOf = ({ service }: Stage) => alerts(service.fresh.database);

/** Creates an order in cell 3 whose first debit has no result yet. Returns its attempt number. */
async function pendingOrder(): Promise<{ orderNo: string; attemptNo: string; amountCent: number }> {
  two.there.institution.onDebit = async () => ({ kind: 'pending' });
  const { data } = await channel.call('orders/create', sharedRequest(channel));
  expect(data.orderStatus).toBe('INITIALIZING');
  const { attemptNo = '', amountCent = 0 } = two.there.institution.debits.at(-1) ?? {};
  return { orderNo: data.orderNo, attemptNo, amountCent };
}

describe('a notice about a debit', () => {
  it('is passed to the cell that its number names, and stored there', async () => {
    const { orderNo, attemptNo, amountCent } = await pendingOrder();
    const notice = noticeOf(attemptNo);
    const answer = await two.here.notice({
      ...notice,
      outcome: { ...paid({ attemptNo, amountCent, startedAt: 0 } as never) },
    } as Notice);
    expect(answer.status).toBe(200);
    expect((await channel.call('orders/query', { orderNo })).data.orderStatus).toBe('ACTIVE');
    expect(await alertsOf(two.here)).toEqual([]);
  });

  it.each([
    ['of an unknown cell', '150000000001000000101'],
    ['of no cell', '900000000001000000101'],
    ['of this cell', '100000099000000101'],
  ])('%s is stored here', async (_what, attemptNo) => {
    expect((await two.here.notice(noticeOf(attemptNo))).status).toBe(200);
    expect(await alertsOf(two.here)).toContainEqual(
      expect.objectContaining({ kind: 'notice-for-unknown-attempt', subject: attemptNo }),
    );
  });

  it('of a cell that cannot be reached is refused, so that it is sent again', async () => {
    expect((await two.here.notice(noticeOf('104000000001000000101'))).status).toBe(503);
  });
});

describe('a notice about the end of an agreement', () => {
  it('ends the agreement in whichever cell has it, without an alert in the others', async () => {
    const number = unique('agreement');
    const user = unique('user');
    const agreement = sharedAgreement(channel, user, { sharedAgreementNo: number });
    const { data } = await channel.call(
      'orders/create',
      sharedRequest(channel, { channelUserId: user, sharedAgreement: agreement }),
    );
    const before = await alertsOf(two.here);
    // Cell 4 has no URL, so only cells with one are asked here.
    const only = await stage({ cell: 0, cells: [{ cell: 0 }, { cell: 3, url: two.there.service.baseUrl }] });
    const answer = await only.notice({ kind: 'agreement-canceled', institutionNo: number, reason: 'gone' });
    expect(answer.status).toBe(200);
    expect(await alertsOf(only)).toEqual([]);
    const unknown = await only.notice({ kind: 'agreement-canceled', institutionNo: unique('none'), reason: 'gone' });
    expect(unknown.status).toBe(200);
    expect(await alertsOf(only)).toMatchObject([{ kind: 'notice-for-unknown-agreement' }]);
    await only.close();
    expect((await channel.call('orders/query', { orderNo: data.orderNo })).data.orderStatus).toBe('UNSUBSCRIBED');
    expect(await alertsOf(two.there)).toEqual([]);
    expect(await alertsOf(two.here)).toEqual(before);
  });
});
