import { formatTime, parseTime } from '@perennial/wire';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { Decline } from '../../src/gateways/gateway.js';
import { authorizePaymentChannel } from '../../src/operator/provisioning/payment-channel-authorizations.js';
import { createPaymentChannel } from '../../src/operator/provisioning/payment-channels.js';
import { authorizeProduct, createProduct } from '../../src/operator/provisioning/products.js';
import { agreementOf, alerts, paid, type Stage, stage } from '../orders/support.js';
import type { Reply } from '../support/channel-client.js';
import {
  collectRequest,
  encrypted,
  encryptedCard,
  mobileOf,
  sharedAgreement,
  sharedRequest,
  unique,
} from '../support/demo.js';

/**
 * One line of a diary. A diary describes the life of one order. A line has a time, the events at that time, and the
 * order's status and next payment as in orders/query.
 */
export type Entry = readonly [when: string, told: string, order: string];

/** How the user's card reacts to a debit. `silent`: the institution gives no answer yet. */
export type Card = 'pays' | 'short' | 'blocked' | 'gone' | 'silent';

const DECLINES: Readonly<Record<'short' | 'blocked' | 'gone', Decline>> = {
  short: 'retryable',
  blocked: 'final',
  gone: 'agreement-invalid',
};

/** A test service with a payment channel of the gateway `bridge`, so that time travel calls the fake institution. */
export interface Book extends Stage {
  card: Card;
  /** Creates a product, by default with 12 monthly periods of 1000 cents. */
  product(cycle: Partial<Parameters<typeof createProduct>[1]>): Promise<string>;
  /** Creates an order in mode A.2. */
  open(when: string, productCode: string, paymentChannelCode?: string): Promise<Diary>;
  /** Creates an order in mode A.1, on a card bound that day. */
  openBound(when: string, productCode: string): Promise<Diary>;
  /** Creates an order in mode B. */
  openCollected(when: string, productCode: string): Promise<Diary>;
}

export interface Diary {
  readonly orderNo: string;
  /** The institution's number of the order's first agreement. Empty in mode B. */
  readonly sharedAgreementNo: string;
  readonly entries: readonly Entry[];
  /** Moves the time to the next due step and runs it: a period, a retry, or the end of an order of one period. */
  goOn(times?: number): Promise<void>;
  /** Moves to a given time, acts, and writes an entry about it. */
  on(when: string, act: () => Promise<unknown>): Promise<void>;
  call(name: string, more?: object): Promise<Reply>;
  /** Reports the institution's result for an attempt of a period. */
  result(cycleNo: number, tryNo: number, card: Exclude<Card, 'silent'>): Promise<Reply>;
  /** Replaces the order's agreement by the agreement of another card. */
  replace(retryFailedNow?: boolean): Promise<Reply>;
  /** Lets the user bind the same card again. Returns the institution's number of the new agreement. */
  bindAgain(): Promise<string>;
  /** Returns a line for each started period, as in payments/query. */
  periods(): Promise<string[]>;
  alerts(): Promise<string[]>;
  /** Returns the status of the current agreement. */
  agreementStatus(): Promise<string>;
  /** Returns, for each attempt of a period, the institution's number of the agreement that was debited. */
  triedOn(cycleNo: number): string[];
}

const minutes = (time: string) => time.slice(0, 16);
const at = (when: string): number => parseTime(`${when}:00`) ?? Number.NaN;

/** The book of the current test file. */
export let book: Book;

/** Opens a book for a test file. Each test begins with a card that pays. */
export function useBook(): void {
  beforeAll(async () => {
    book = await openBook();
  });
  afterAll(() => book.close());
  beforeEach(() => {
    book.card = 'pays';
  });
}

/**
 * Creates a monthly order of 15 January 2027 and moves to its second period, which is debited from a card with this
 * behaviour.
 */
export async function secondPeriod(card: Card, open: 'open' | 'openBound' = 'open'): Promise<Diary> {
  const diary = await book[open]('2027-01-15 10:00', 'TEST_SPU_001');
  book.card = card;
  await diary.goOn();
  return diary;
}

async function openBook(): Promise<Book> {
  const base = await stage();
  const { service, channel, institution } = base;
  const bridge = { code: 'BANKPAY', displayName: 'Bank', gateway: 'bridge', supportedBanks: ['*'] };
  await createPaymentChannel(service.operator, { ...bridge, gatewayUrl: 'http://127.0.0.1:1' });
  await authorizePaymentChannel(service.operator, { appId: 'test_demo', code: 'BANKPAY', shareEnabled: true });
  const answer = (card: Card, request: Parameters<typeof paid>[0]) => {
    if (card === 'pays') return paid(request);
    if (card === 'silent') return { kind: 'pending' } as const;
    return { kind: 'declined', decline: DECLINES[card], reason: card } as const;
  };
  institution.onDebit = async (request) => answer(opened.card, request);
  institution.onQuery = async () => ({ kind: 'not-found' });

  /** Calls with a new token, because a token lasts two hours and a diary lasts years. */
  const call = async (name: string, body: object) => channel.call(name, body, { token: await channel.getToken() });
  const bind = async (channelUserId: string) => {
    const { bindOrderNo } = (
      await call('agreements/bind-sms', {
        channelUserId,
        paymentChannelCode: 'BANKPAY',
        mobileEncrypted: encrypted(channel, mobileOf(channelUserId)),
        ...encryptedCard(channel),
      })
    ).data;
    const smsCodeEncrypted = encrypted(channel, '123456');
    const bound = await call('agreements/bind-confirm', { bindOrderNo, smsCodeEncrypted });
    if (bound.data?.agreementStatus !== 'BIND_SUCCESS') throw new Error(`bind-confirm answered ${bound.text}`);
    return bindOrderNo as string;
  };
  const create = async (when: string, request: object, sharedAgreementNo: string) => {
    service.clock.set(at(when));
    const reply = await call('orders/create', request);
    if (reply.code !== '0') throw new Error(`orders/create answered ${reply.text}`);
    const written = diary(opened, { call, bind }, reply.data.orderNo, sharedAgreementNo);
    await written.on(when, async () => undefined);
    return written;
  };
  const opened: Book = {
    ...base,
    card: 'pays',
    async product(cycle) {
      const productCode = unique('DIARY').replaceAll('-', '_');
      await createProduct(service.operator, {
        productCode,
        productName: productCode,
        settlementModes: ['SVC_DEDUCT', 'CHANNEL_COLLECT'],
        periodType: 'MONTH',
        period: 1,
        totalCycles: 12,
        amountCent: 1000,
        benefits: [{ benefitCode: 'PASS', name: 'Pass', faceValueCent: 1000 }],
        ...cycle,
      });
      await authorizeProduct(service.operator, { appId: 'test_demo', productCode });
      return productCode;
    },
    open(when, productCode, paymentChannelCode = 'BANKPAY') {
      const channelUserId = unique('user');
      const shared = sharedAgreement(channel, channelUserId, { paymentChannelCode });
      const request = sharedRequest(channel, { channelUserId, sharedAgreement: shared, productCode });
      return create(when, request, shared.sharedAgreementNo);
    },
    async openBound(when, productCode) {
      service.clock.set(at(when));
      const bindOrderNo = await bind(unique('user'));
      const request = { settlementMode: 'SVC_DEDUCT', externalOrderNo: unique('order'), productCode, bindOrderNo };
      return create(when, request, `inst-${bindOrderNo}`);
    },
    openCollected: (when, productCode) => create(when, collectRequest(channel, { productCode }), ''),
  };
  return opened;
}

function diary(
  of: Book,
  {
    call,
    bind,
  }: {
    readonly call: (name: string, body: object) => Promise<Reply>;
    readonly bind: (channelUserId: string) => Promise<string>;
  },
  orderNo: string,
  sharedAgreementNo: string,
): Diary {
  const { database } = of.service.fresh;
  const entries: Entry[] = [];
  let read = 0;

  async function write(when: string): Promise<void> {
    const events = await database.query<{ occurred: number; no: number; told: string }>(
      `select (extract(epoch from occurred_at) * 1000)::bigint as occurred, event_no as no,
         case when cycle_no is null then 'order ' || (data::json ->> 'orderStatus')
           else concat('period ', cycle_no, '-' || nullif(cycle_to, cycle_no), ' ', data::json ->> 'paymentStatus') end as told
       from events where order_no = $1 and event_no > $2 order by event_no`,
      [orderNo, read],
    );
    read = events.at(-1)?.no ?? read;
    const times = new Set(events.map(({ occurred }) => minutes(formatTime(occurred))));
    const { orderStatus, nextPayTime } = (await call('orders/query', { orderNo })).data;
    entries.push([
      [...times].join(' and ') || when,
      events.map(({ told }) => told).join(', ') || 'nothing',
      nextPayTime === null ? orderStatus : `${orderStatus}, next ${minutes(nextPayTime)}`,
    ]);
  }

  const user = async () => {
    const [order] = await database.query<{ user: string }>(
      'select channel_user_id as user from orders where order_no = $1',
      [orderNo],
    );
    return order?.user ?? '';
  };

  const self: Diary = {
    orderNo,
    sharedAgreementNo,
    entries,
    async goOn(times = 1) {
      for (let n = 0; n < times; n += 1) {
        const { nextPayTime } = (await call('orders/query', { orderNo })).data;
        if (nextPayTime !== null) of.service.clock.set(at(minutes(nextPayTime)));
        const reply = await self.call('sandbox/orders/advance', { cycles: 1 });
        if (reply.code !== '0') throw new Error(`sandbox/orders/advance answered ${reply.text}`);
        await write(minutes(formatTime(of.service.clock.now())));
      }
    },
    async on(when, act) {
      of.service.clock.set(at(when));
      await act();
      await write(when);
    },
    call: (name, more = {}) => call(name, { orderNo, ...more }),
    async result(cycleNo, tryNo, card) {
      const attemptNo = `${orderNo}${String(cycleNo).padStart(4, '0')}${String(tryNo).padStart(2, '0')}`;
      const debit = of.institution.debits.find((one) => one.attemptNo === attemptNo);
      if (!debit) throw new Error(`the institution was never asked for ${attemptNo}`);
      const outcome =
        card === 'pays'
          ? paid(debit, { paidAt: of.service.clock.now() })
          : ({ kind: 'declined', decline: DECLINES[card], reason: card } as const);
      return of.notice({ kind: 'debit', attemptNo, outcome }, 'BANKPAY');
    },
    async replace(retryFailedNow) {
      const more = { paymentChannelCode: 'BANKPAY' };
      const newSharedAgreement = sharedAgreement(of.channel, await user(), more);
      return self.call('agreements/replace', {
        newSharedAgreement,
        ...(retryFailedNow === undefined ? {} : { retryFailedNow }),
      });
    },
    bindAgain: async () => `inst-${await bind(await user())}`,
    async periods() {
      const { paymentRecords } = (await call('orders/query', { orderNo })).data;
      const lines: string[] = [];
      for (const { paymentOrderNo, paymentStatus } of paymentRecords) {
        const { data } = await call('payments/query', { paymentOrderNo });
        if (data.paymentStatus !== paymentStatus) throw new Error(`${paymentOrderNo} is told in two ways`);
        const paidOn = data.paidAt === null ? '' : `, paid ${minutes(data.paidAt)}`;
        lines.push(`${data.cycleNo} due ${minutes(data.expectPayTime)}: ${paymentStatus}${paidOn}`);
      }
      return lines;
    },
    async alerts() {
      const all = await alerts(database);
      return all.filter(({ subject }) => subject.startsWith(orderNo)).map(({ kind }) => kind);
    },
    agreementStatus: async () => (await agreementOf(database, orderNo)).status,
    triedOn: (cycleNo) =>
      of.institution.debits
        .filter((debit) => debit.orderNo === orderNo && debit.cycleNo === cycleNo)
        .map(({ institutionNo }) => institutionNo),
  };
  return self;
}
