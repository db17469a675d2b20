import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { authorizePaymentChannel } from '../../src/operator/provisioning/payment-channel-authorizations.js';
import { createPaymentChannel, updatePaymentChannel } from '../../src/operator/provisioning/payment-channels.js';
import { nodeOfFile, ofFile, stageOfFile } from '../orders/stage-of-file.js';
import { agreementOf, alerts, anotherChannel } from '../orders/support.js';
import { capturedLog } from '../support/captured-log.js';
import type { ChannelClient, Reply } from '../support/channel-client.js';
import { bindCard, encrypted, mobileOf, sharedAgreement, sharedRequest, unique } from '../support/demo.js';
import { anotherNode } from '../support/second-node.js';

/** An agreement number that is in force for one channel cannot be shared by another channel. */
const { on, service, channel } = stageOfFile();
const node = nodeOfFile(on);
let other: ChannelClient;
beforeAll(async () => {
  other = await anotherChannel(service);
  const otherPay = { code: 'OTHERPAY', displayName: 'Other', gateway: 'sandbox', supportedBanks: ['*'] };
  await createPaymentChannel(service.operator, otherPay);
  const { appId } = other.credentials;
  await authorizePaymentChannel(service.operator, { appId, code: 'OTHERPAY', shareEnabled: true });
});
beforeEach(() => service.fresh.database.query('delete from alerts'));

const common = (commonNumbers: boolean) => updatePaymentChannel(service.operator, { code: 'MOCKPAY', commonNumbers });

/** Returns an A.2 creation request with this agreement number. */
function sharing(by: ChannelClient, sharedAgreementNo: string, more: Record<string, unknown> = {}) {
  const channelUserId = unique('user');
  const shared = sharedAgreement(by, channelUserId, { sharedAgreementNo });
  return sharedRequest(by, { channelUserId, sharedAgreement: shared, ...more });
}
const share = (by: ChannelClient, sharedAgreementNo: string, more: Record<string, unknown> = {}) =>
  by.call('orders/create', sharing(by, sharedAgreementNo, more));
const created = (reply: Reply): string => {
  expect(reply.code, reply.text).toBe('0');
  return reply.data.orderNo;
};
/** Returns how often the institution was asked to cancel this agreement number. */
const canceled = (number: string) =>
  on.institution.cancellations.filter(({ institutionNo }) => institutionNo === number).length;
const rows = async () => {
  const [counts] = await service.fresh.database.query(
    `select (select count(*) from orders) as orders, (select count(*) from agreements) as agreements,
       (select count(*) from debit_attempts) as attempts, (select count(*) from channel_users) as users`,
  );
  return counts;
};

describe('a number in another spelling', () => {
  const spellings = (number: string) => [
    ` ${number}`,
    `${number}\u3000`,
    `${number.slice(0, 2)}\u200b${number.slice(2)}`,
    `${number.slice(0, 2)} ${number.slice(2)}`,
    number.replace('-', '\u00ad-'),
    number.replaceAll(/[0-9A-Z]/g, (one) => String.fromCodePoint(0xfee0 + (one.codePointAt(0) ?? 0))),
  ];

  it('is the same number: another channel cannot share it, and the institution gets the usual spelling', async () => {
    const number = unique('N-');
    created(await share(channel, number));
    for (const spelling of spellings(number)) {
      expect([spelling, (await share(other, spelling)).code]).toEqual([spelling, '403004']);
    }
    const debits = on.institution.debits.length;
    created(await share(channel, `\u200b ${number}\u3000`));
    expect(on.institution.debits.slice(debits).map(({ institutionNo }) => institutionNo)).toEqual([number]);
  });

  it.each(['\u200b \u3000', 'N-\u0007-1', 'N-\ue000-1', 'N-\u0378'])(
    'that is not a number is refused: %j',
    async (number) => {
      const reply = await share(channel, number);
      expect([reply.code, reply.envelope.message]).toEqual([
        '400001',
        'sharedAgreement.sharedAgreementNo contains a character that is not allowed',
      ]);
    },
  );
});

describe('orders/create with a number that another channel has', () => {
  it('403004: nothing is stored or debited, and an operator gets an alert', async () => {
    const number = unique('N');
    const order = created(await share(channel, number));
    const before = await rows();
    const debits = on.institution.debits.length;
    const reply = await share(other, number);
    expect(reply.code).toBe('403004');
    expect(reply.envelope.message).toBe('sharedAgreementNo is in use elsewhere and cannot be shared');
    expect([await rows(), on.institution.debits.length]).toEqual([before, debits]);
    const { agreement_no } = await agreementOf(service.fresh.database, order);
    const raised = await alerts(service.fresh.database);
    expect(raised).toEqual([
      {
        kind: 'agreement-number-of-another-channel',
        subject: expect.stringMatching(new RegExp(`^${other.credentials.appId} [0-9a-f]{16}$`)),
        detail: `shared at MOCKPAY, in force as ${agreement_no} of test_demo`,
      },
    ]);
    expect(JSON.stringify(raised)).not.toContain(number);
    // The answer names neither the other channel nor its agreement.
    expect(reply.text).not.toMatch(new RegExp(`test_demo|${agreement_no}|${number}`));
  });

  it('403004: a number that the institution gave to a binding of another channel', async () => {
    const bindOrderNo = await bindCard(channel, unique('user'));
    expect((await share(other, `inst-${bindOrderNo}`)).code).toBe('403004');
    // The channel that bound the card can also share its number.
    created(await share(channel, `inst-${bindOrderNo}`));
  });

  it('403004 repeatedly: a resend gets the same answer, and the alert is counted', async () => {
    const number = unique('N');
    created(await share(channel, number));
    const raw = JSON.stringify(sharing(other, number));
    const idempotencyKey = unique('key');
    const first = await other.call('orders/create', undefined, { raw, idempotencyKey });
    const again = await other.call('orders/create', undefined, { raw, idempotencyKey });
    expect([first.code, again.code, again.headers['idempotency-replayed']]).toEqual(['403004', '403004', 'true']);
    await share(other, number);
    const seen = await service.fresh.database.query('select seen from alerts');
    expect(seen).toEqual([{ seen: 2 }]);
  });

  /** The first row has every error, the last row only the wrong mobile. */
  it('the first code in the list of codes wins if several apply', async () => {
    const number = unique('N');
    const externalOrderNo = unique('taken');
    created(await share(channel, number, { externalOrderNo }));
    const channelUserId = unique('known');
    created(await other.call('orders/create', sharedRequest(other, { channelUserId })));
    const wrongMobile = {
      channelUserId,
      mobileEncrypted: encrypted(other, mobileOf('another')),
      sharedAgreement: sharedAgreement(other, channelUserId, { sharedAgreementNo: number }),
    };
    for (const [more, code] of [
      [{ ...wrongMobile, externalOrderNo, productCode: 'NO_SUCH' }, '420005'],
      [{ ...wrongMobile, externalOrderNo }, '420002'],
      [wrongMobile, '403004'],
      [{ ...wrongMobile, sharedAgreement: sharedAgreement(other, channelUserId) }, '410010'],
    ] as const) {
      expect((await other.call('orders/create', sharedRequest(other, more))).code).toBe(code);
    }
  });

  it('0: the same channel repeatedly; the same number at another payment channel', async () => {
    const number = unique('N');
    for (let n = 0; n < 3; n += 1) created(await share(channel, number));
    const channelUserId = unique('user');
    const elsewhere = { sharedAgreementNo: number, paymentChannelCode: 'OTHERPAY' };
    const shared = sharedAgreement(other, channelUserId, elsewhere);
    created(await other.call('orders/create', sharedRequest(other, { channelUserId, sharedAgreement: shared })));
    expect(await alerts(service.fresh.database)).toEqual([]);
  });

  it('0: after it has ended or was replaced; while its order is completed it is still taken', async () => {
    const [ended, replaced, completed] = [unique('N'), unique('N'), unique('N')];
    const first = created(await share(channel, ended));
    expect((await channel.call('orders/unsubscribe', { orderNo: first })).code).toBe('0');
    created(await share(other, ended));
    const request = sharing(channel, replaced);
    const second = created(await channel.call('orders/create', request));
    const newSharedAgreement = sharedAgreement(channel, request.channelUserId);
    expect((await channel.call('agreements/replace', { orderNo: second, newSharedAgreement })).code).toBe('0');
    created(await share(other, replaced));
    const third = created(await share(channel, completed));
    await service.fresh.database.query(
      `update orders set status = 'COMPLETED', next_due_at = null where order_no = $1`,
      [third],
    );
    expect((await share(other, completed)).code).toBe('403004');
  });

  it('0: a number that another channel shared and could not debit is free', async () => {
    const number = unique('N');
    on.institution.onDebit = async () => ({ kind: 'declined', decline: 'final', reason: 'not yours' });
    expect((await share(other, number)).data.orderStatus).toBe('TERMINATED');
    on.institution.onDebit = async () => ({ kind: 'pending' });
    const waiting = await share(channel, number);
    expect(waiting.data.orderStatus).toBe('INITIALIZING');
    // While the owner's debit on this number is in flight, the other channel cannot share the number.
    expect((await share(other, number)).code).toBe('403004');
    on.institution.reset();
    await on.askPending();
    // The other channel's failed order does not prevent the cancellation when the owner's order ends.
    await channel.call('orders/unsubscribe', { orderNo: waiting.data.orderNo });
    await on.cancelAgreements();
    expect(canceled(number)).toBe(1);
  });
});

describe('a number with several orders of a channel', () => {
  const twoOrders = async (number: string) => [
    created(await share(channel, number)),
    created(await share(channel, number)),
  ];

  it('is free when one is unsubscribed and the first debit of the other has failed', async () => {
    const number = unique('N');
    const first = created(await share(channel, number));
    on.institution.onDebit = async () => ({ kind: 'pending' });
    const second = await share(channel, number);
    expect((await channel.call('orders/unsubscribe', { orderNo: first })).code).toBe('0');
    expect((await share(other, number)).code).toBe('403004');
    on.institution.onQuery = async () => ({ kind: 'declined', decline: 'final', reason: 'no money' });
    await on.askPending();
    expect((await channel.call('orders/query', { orderNo: second.data.orderNo })).data.orderStatus).toBe('TERMINATED');
    on.institution.reset();
    created(await share(other, number));
  });

  it("is free when an order's agreement was replaced and its first debit has failed", async () => {
    const [before, after] = [unique('N'), unique('N')];
    on.institution.onDebit = async () => ({ kind: 'pending' });
    const request = sharing(channel, before);
    const { orderNo } = (await channel.call('orders/create', request)).data;
    const newSharedAgreement = sharedAgreement(channel, request.channelUserId, { sharedAgreementNo: after });
    expect((await channel.call('agreements/replace', { orderNo, newSharedAgreement })).code).toBe('0');
    expect((await share(other, after)).code).toBe('403004');
    on.institution.onQuery = async () => ({ kind: 'declined', decline: 'final', reason: 'no money' });
    await on.askPending();
    on.institution.reset();
    created(await share(other, before));
    created(await share(other, after));
  });

  it('ends with the last order, whichever that is: both unsubscribed at once, on two nodes', async () => {
    const numbers = Array.from({ length: 20 }, () => unique('N'));
    await Promise.all(
      numbers.map(async (number) => {
        const [one = '', two = ''] = await twoOrders(number);
        const replies = await Promise.all([
          channel.call('orders/unsubscribe', { orderNo: one }),
          node.client(channel).call('orders/unsubscribe', { orderNo: two }),
        ]);
        expect(replies.map(({ code }) => code)).toEqual(['0', '0']);
        for (const orderNo of [one, two]) {
          expect(await agreementOf(service.fresh.database, orderNo)).toMatchObject({ status: 'CANCELED' });
        }
      }),
    );
    await on.cancelAgreements();
    expect(numbers.map(canceled)).toEqual(numbers.map(() => 1));
  });
});

describe('agreements/replace with a number that another channel has', () => {
  it('403004: the order is unchanged, and an operator gets an alert', async () => {
    const number = unique('N');
    created(await share(channel, number));
    const request = sharedRequest(other);
    const orderNo = created(await other.call('orders/create', request));
    const before = await agreementOf(service.fresh.database, orderNo);
    const newSharedAgreement = sharedAgreement(other, request.channelUserId, { sharedAgreementNo: number });
    const reply = await other.call('agreements/replace', { orderNo, newSharedAgreement });
    expect([reply.code, reply.envelope.message]).toEqual([
      '403004',
      'sharedAgreementNo is in use elsewhere and cannot be shared',
    ]);
    expect(await agreementOf(service.fresh.database, orderNo)).toEqual(before);
    expect(await alerts(service.fresh.database)).toMatchObject([
      { kind: 'agreement-number-of-another-channel', subject: expect.stringContaining(other.credentials.appId) },
    ]);
    // The service refuses an ended order before it looks at the number.
    await other.call('orders/unsubscribe', { orderNo });
    expect((await other.call('agreements/replace', { orderNo, newSharedAgreement })).code).toBe('420003');
  });
});

describe('if the alert cannot be stored', () => {
  const log = capturedLog();
  const loud = ofFile(() => anotherNode(service, { gateways: { of: async () => on.institution }, log: log.log }));
  beforeEach(() => service.fresh.database.query('alter table alerts rename to alerts_elsewhere'));
  afterEach(() => service.fresh.database.query('alter table alerts_elsewhere rename to alerts'));

  it('403004 too, and a log line, for orders/create and agreements/replace', async () => {
    const number = unique('N');
    created(await share(channel, number));
    const there = loud.client(other);
    expect((await share(there, number)).code).toBe('403004');
    const request = sharedRequest(other);
    const orderNo = created(await there.call('orders/create', request));
    const newSharedAgreement = sharedAgreement(other, request.channelUserId, { sharedAgreementNo: number });
    expect((await there.call('agreements/replace', { orderNo, newSharedAgreement })).code).toBe('403004');
    const { appId } = other.credentials;
    const line = {
      level: 'error',
      requestId: expect.any(String),
      appId,
      msg: 'refused a number of another channel, but could not store the alert; check the database',
    };
    expect(log.lines().filter(({ level }) => level === 'error')).toMatchObject([line, line]);
    expect(log.text()).not.toContain(number);
  });
});

describe('concurrently', () => {
  const codes = (replies: readonly Reply[]) => replies.map(({ code }) => code).sort();
  const rounds = <T>(count: number, round: (n: number) => Promise<T>) =>
    Promise.all(Array.from({ length: count }, (_, n) => round(n)));

  it('two channels share a number on two nodes: one gets it and is debited', async () => {
    const there = node.client(other);
    await rounds(20, async () => {
      const number = unique('N');
      expect(codes(await Promise.all([share(channel, number), share(there, number)]))).toEqual(['0', '403004']);
    });
    const numbers = on.institution.debits.map(({ institutionNo }) => institutionNo);
    expect(new Set(numbers).size).toBe(numbers.length);
  });

  it('two channels share a number on one node, in one statement: one gets it', async () => {
    const replies = await rounds(20, async () => {
      const number = unique('N');
      return codes(await Promise.all([share(channel, number), share(other, number)]));
    });
    expect(new Set(replies.map((pair) => pair.join(' ')))).toEqual(new Set(['0 403004']));
  });

  it('one shares it for a new order, the other for an existing one: one gets it', async () => {
    await rounds(10, async () => {
      const number = unique('N');
      const request = sharedRequest(other);
      const orderNo = created(await other.call('orders/create', request));
      const newSharedAgreement = sharedAgreement(other, request.channelUserId, { sharedAgreementNo: number });
      const replies = await Promise.all([
        share(node.client(channel), number),
        other.call('agreements/replace', { orderNo, newSharedAgreement }),
      ]);
      expect(codes(replies)).toEqual(['0', '403004']);
    });
  });

  it('two channels share many numbers in opposite order: no deadlock', async () => {
    const numbers = Array.from({ length: 40 }, () => unique('N'));
    const [mine, theirs] = await Promise.all([
      Promise.all(numbers.map((number) => share(channel, number))),
      Promise.all([...numbers].reverse().map((number) => share(node.client(other), number))),
    ]);
    theirs.reverse();
    for (const [n, one] of mine.entries()) {
      expect([one.code, theirs[n]?.code].sort()).toEqual(['0', '403004']);
    }
  });
});

describe('a payment channel whose numbers are common', () => {
  beforeEach(() => common(true));
  afterEach(() => common(false));

  it('0: channels share a number; one may end it without affecting the others', async () => {
    const number = unique('N');
    const mine = created(await share(channel, number));
    const theirs = created(await share(node.client(other), number));
    expect(await alerts(service.fresh.database)).toEqual([]);
    await channel.call('orders/unsubscribe', { orderNo: mine });
    await on.cancelAgreements();
    expect(canceled(number)).toBe(0);
    expect(await agreementOf(service.fresh.database, theirs)).toMatchObject({ status: 'BIND_SUCCESS' });
    expect((await other.call('orders/unsubscribe', { orderNo: theirs })).code).toBe('0');
    await on.cancelAgreements();
    expect(canceled(number)).toBe(1);
  });

  it('two channels end a number at once, on two nodes: the institution is asked once', async () => {
    const numbers = Array.from({ length: 20 }, () => unique('N'));
    const theirs = node.client(other);
    await Promise.all(
      numbers.map(async (number) => {
        const orders = [created(await share(channel, number)), created(await share(theirs, number))];
        await Promise.all([
          channel.call('orders/unsubscribe', { orderNo: orders[0] }),
          theirs.call('orders/unsubscribe', { orderNo: orders[1] }),
        ]);
      }),
    );
    await on.cancelAgreements();
    expect(numbers.map(canceled)).toEqual(numbers.map(() => 1));
  });

  it('no longer common: existing agreements continue, and no channel can share the number again', async () => {
    const number = unique('N');
    const orders = [created(await share(channel, number)), created(await share(other, number))];
    await common(false);
    expect((await share(channel, number)).code).toBe('403004');
    expect((await share(node.client(other), number)).code).toBe('403004');
    on.institution.reset();
    await on.renew(Number.POSITIVE_INFINITY);
    const renewed = on.institution.debits.filter(({ institutionNo }) => institutionNo === number);
    expect(renewed.map(({ orderNo, cycleNo }) => [orderNo, cycleNo]).filter(([, cycleNo]) => cycleNo === 2)).toEqual(
      expect.arrayContaining(orders.map((orderNo) => [orderNo, 2])),
    );
  });
});
