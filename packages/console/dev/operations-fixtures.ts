import type {
  Alert,
  AlertAnswer,
  Alerts,
  Benefit,
  Benefits,
  BulkRun,
  Channel,
  ChannelChange,
  Channels,
  CodesAnswer,
  Difference,
  Differences,
  EventAnswer,
  EventChannel,
  EventChannels,
  EventLine,
  EventsAnswer,
  PaymentChannel,
  PaymentChannels,
  Product,
  Products,
  Reconciliations,
  RequestsAnswer,
  RequestsSummary,
  SettlementMonth,
  SettlementMonths,
  TestEventAnswer,
} from '../src/api/types.ts';
import { type Answer, at, Refusal, random } from './fixtures.ts';

/** Events, alerts, books and set-up of the invented installation. Some names are what a page must show as text. */
const HOUR = 3600;
const DAY = 86_400;
const EMPTY = process.env['EMPTY'] === 'yes';
const FAULT = process.env['FAULT'] === 'yes';

const CHANNELS = [
  ['yuntu_video', '云途视频'],
  ['northwind_music', 'Northwind Music'],
  ['daily_english', '每日英语'],
  ['odd_partner', '<script>alert("hi")</script> & a partner with a very long name that does not end soon'],
] as const;

const channel = (appId: string, name: string, place: number): Channel => ({
  channelId: String(place + 1),
  appId,
  name,
  status: place === 3 ? 'SUSPENDED' : 'ACTIVE',
  ratePerSecond: 50 * (place + 1),
  rateBurst: 100 * (place + 1),
  ipAllowList: place === 0 ? ['203.0.113.0/24', '198.51.100.7'] : [],
  voidedPeriodEvents: place === 0,
  frameOrigins: place === 0 ? ['https://shop.yuntu.example'] : [],
  answerEncryption: place === 0 ? 'v2' : 'v1',
  acceptsV1: true,
  callbackUrls:
    place === 2
      ? []
      : [
          { eventType: '*', url: `https://api.${appId.replace('_', '-')}.example/hooks/perennial` },
          ...(place === 0
            ? [{ eventType: 'payment.status.changed' as const, url: 'https://pay.yuntu.example/hooks' }]
            : []),
        ],
  pausedEvents: place === 1 ? ['payment.status.changed'] : [],
  products: ['VIDEO_MONTH_V2', 'VIDEO_YEAR'].slice(0, 2 - (place % 2)),
  paymentChannels: [
    { code: 'UNIPAY', isDefault: true, shareEnabled: place === 0 },
    ...(place === 0 ? [{ code: 'MOCKPAY', isDefault: false, shareEnabled: false }] : []),
  ],
  formerSecretUntil: place === 0 ? at(20 * HOUR) : null,
  createdAt: at(-(90 - place * 20) * DAY),
});
const channels = new Map(CHANNELS.map(([appId, name], place) => [appId as string, channel(appId, name, place)]));
const need = (appId: string | undefined): Channel => {
  const found = channels.get(appId ?? '');
  if (!found) throw new Refusal(404, 'not-found', 'there is no such channel');
  return found;
};
const keep = (changed: Channel) => {
  channels.set(changed.appId, changed);
  return { channel: changed, changed: true };
};

function eventChannels(): EventChannels {
  if (EMPTY) return { channels: [] };
  const figures: Partial<EventChannel>[] = [
    { waiting: 12, oldestWaitingAt: at(-95), nextPushAt: at(-2), accepted: 18_230, failed: 212 },
    {
      waiting: 10_000,
      oldestWaitingAt: at(-7 * HOUR),
      nextPushAt: at(1400),
      givenUp: 318,
      accepted: 120,
      failed: 4210,
      lastAnswer: '502: <html><body><h1>Bad gateway</h1></body></html>',
    },
    { withoutAddress: 44 },
    { accepted: 3, lastAnswer: '200: {"code":"0"}' },
  ];
  return {
    channels: [...channels.values()].map((one, place) => ({
      appId: one.appId,
      name: one.name,
      callbackUrls: one.callbackUrls,
      paused: one.pausedEvents,
      waiting: 0,
      oldestWaitingAt: null,
      nextPushAt: null,
      givenUp: 0,
      withoutAddress: 0,
      accepted: 0,
      failed: 0,
      lastAnswer: '200: {"code":"0"}',
      ...figures[place],
    })),
  };
}

const DELIVERY = ['DELIVERED', 'DELIVERED', 'PENDING', 'GIVE_UP', 'DELIVERED', 'NO_CALLBACK'] as const;
const eventLine = (no: number): EventLine => ({
  eventId: `${48_120 - no}`,
  lastEventId: no % 3 === 0 ? null : `${47_001 - no}`,
  eventType: no % 2 === 0 ? 'payment.status.changed' : 'order.status.changed',
  orderNo: `20261114000000018${230 + no}`,
  occurredAt: at(-no * 640),
  recordedAt: at(-no * 640 + 1),
  deliveryStatus: DELIVERY[no % DELIVERY.length] ?? 'DELIVERED',
  pushes: [1, 1, 4, 11, 2, 0][no % 6] ?? 1,
  lastPushTime: no % 6 === 5 ? null : at(-no * 600),
});

const ALERTS: readonly (readonly [string, string, string, Partial<Alert>])[] = [
  ['webhook-given-up', 'northwind_music', '318 given up at once', { seen: 14, owner: 'ann', comments: 2 }],
  ['refund-refused', 'R100000001000000101', 'the card is closed', { orderNo: '1000000010' }],
  ['pool-low', 'VIDEO_PASS', '38 codes are left, fewer than 100', {}],
  [
    'reconciliation-difference',
    'UNIPAY 2026-11-14',
    '3 differences: 1 missing here, 1 missing there, 1 amount',
    { owner: 'finn' },
  ],
  [
    'debit-unknown-for-a-day',
    '100000002000000201',
    'started 2026-11-15 09:00:12, asked 41 times',
    { orderNo: '1000000020' },
  ],
  [
    'debit-contradiction',
    '100000003000000101',
    'settled as FAIL, now reported as SUCCESS by <b>the institution</b>',
    { orderNo: '1000000030', acknowledgedBy: 'mo', acknowledgedAt: at(-5 * HOUR) },
  ],
  [
    'pool-empty',
    'MUSIC_PASS',
    '4 claims wait for a code',
    { resolvedAt: at(-2 * HOUR), resolvedBecause: 'every claim has its code' },
  ],
];
const alert = ([kind, subject, detail, more]: (typeof ALERTS)[number], place: number): Alert => ({
  kind,
  subject,
  detail,
  detailSaid: null,
  resolvedSaid: null,
  seen: 1,
  firstSeenAt: at(-2 * DAY - place * HOUR),
  lastSeenAt: at(-place * 3100 - 70),
  owner: null,
  acknowledgedBy: null,
  acknowledgedAt: null,
  resolvedAt: null,
  resolvedBecause: null,
  comments: 0,
  orderNo: null,
  ...more,
});
const alerts = new Map(ALERTS.map(alert).map((one) => [`${one.kind} ${one.subject}`, one]));
const changeAlert = ({ kind, subject }: Record<string, unknown>, changes: Partial<Alert>) => {
  const key = `${kind} ${subject}`;
  const known = alerts.get(key);
  if (!known) throw new Refusal(404, 'not-found', 'there is no such alert');
  alerts.set(key, { ...known, ...changes });
  return { changed: true };
};
const isOpen = (one: Alert) => one.acknowledgedAt === null && one.resolvedAt === null;
const comments = [
  { author: 'mo', at: at(-6 * HOUR), text: 'Called them: their gateway is being moved.\nBack at 18:00.' },
  { author: 'ann', at: at(-2 * HOUR), text: 'Replay once they are back.' },
];

const difference = (no: number, more: Partial<Difference>): Difference => ({
  differenceNo: String(no),
  paymentChannelCode: 'UNIPAY',
  day: '2026-11-14',
  kind: 'AMOUNT',
  lineKind: 'debit',
  number: `10000000${no}00000101`,
  orderNo: `10000000${no}0`,
  hereAmountCent: 2990,
  hereStatus: 'SUCCESS',
  thereAmountCent: 2980,
  thereStatus: 'SUCCESS',
  firstSeenAt: at(-DAY),
  lastSeenAt: at(-3 * HOUR),
  owner: null,
  closedBy: null,
  closedAt: null,
  closingNote: null,
  ...more,
});
const differences = new Map(
  [
    difference(41, {}),
    difference(42, {
      kind: 'MISSING_HERE',
      hereAmountCent: null,
      hereStatus: null,
      orderNo: null,
      number: 'X-77120',
      owner: 'finn',
    }),
    difference(43, {
      kind: 'MISSING_THERE',
      thereAmountCent: null,
      thereStatus: null,
      lineKind: 'refund',
      number: 'R100000004300000101',
    }),
    difference(44, {
      kind: 'STATE',
      day: '2026-11-13',
      paymentChannelCode: 'MOCKPAY',
      hereStatus: 'FAIL',
      hereAmountCent: 19_900,
      thereAmountCent: 19_900,
    }),
    difference(45, {
      kind: 'DUPLICATE',
      day: '2026-11-12',
      closedBy: 'finn',
      closedAt: at(-2 * DAY),
      closingNote: 'The institution sent the line twice; corrected in the statement of the 13th.',
    }),
  ].map((one) => [one.differenceNo, one]),
);
const changeDifference = (no: string | undefined, changes: Partial<Difference>) => {
  const known = differences.get(no ?? '');
  if (!known) throw new Refusal(404, 'not-found', 'there is no such difference');
  const after = { ...known, ...changes };
  differences.set(known.differenceNo, after);
  return { difference: after, changed: true };
};

const sums = (scale: number) => ({
  collectedCent: Math.round(941_202 * scale) * 10,
  collectedCount: Math.round(3142 * scale),
  refundedCent: Math.round(8970 * scale),
  refundedCount: Math.round(3 * scale),
  billedCent: Math.round(120_000 * scale),
  billedCount: Math.round(60 * scale),
});
const NOTHING = {
  collectedCent: 0,
  collectedCount: 0,
  refundedCent: 0,
  refundedCount: 0,
  billedCent: 0,
  billedCount: 0,
};
const closed = new Map([
  ['2026-09', { closedBy: 'finn', closedAt: '2026-10-03 10:12:00' }],
  ['2026-08', { closedBy: 'finn', closedAt: '2026-09-02 09:40:00' }],
]);
const months = (): SettlementMonths => ({
  months: EMPTY
    ? []
    : ['2026-11', '2026-10', '2026-09', '2026-08'].map((month) => ({
        month,
        status: closed.has(month) ? 'CLOSED' : 'OPEN',
        closedBy: closed.get(month)?.closedBy ?? null,
        closedAt: closed.get(month)?.closedAt ?? null,
      })),
});
function settlement(month: string): SettlementMonth {
  const isClosed = closed.has(month);
  return {
    month,
    monthIsOver: month < '2026-11',
    status: isClosed ? 'CLOSED' : 'OPEN',
    closedBy: closed.get(month)?.closedBy ?? null,
    closedAt: closed.get(month)?.closedAt ?? null,
    totals: sums(1.4),
    laterCent: month === '2026-10' ? -5980 : 0,
    unsettled: isClosed ? 0 : 2,
    channels: CHANNELS.map(([appId, name], place) => {
      const scale = [1, 0.3, 0, 0.1][place] ?? 0;
      return {
        appId,
        name,
        ...sums(scale),
        laterCent: place === 0 && month === '2026-10' ? -5980 : 0,
        later: place === 0 && month === '2026-10' ? { ...NOTHING, refundedCent: 5980, refundedCount: 2 } : NOTHING,
        unsettled: place === 0 ? 2 : 0,
        products:
          scale === 0
            ? []
            : [
                {
                  productCode: 'VIDEO_MONTH',
                  settlementMode: 'SVC_DEDUCT',
                  ...sums(scale * 0.7),
                  billedCent: 0,
                  billedCount: 0,
                },
                {
                  productCode: 'VIDEO_YEAR',
                  settlementMode: 'CHANNEL_COLLECT',
                  ...NOTHING,
                  billedCent: 120_000,
                  billedCount: 60,
                },
              ],
      };
    }),
  };
}

const product = (productCode: string, more: Partial<Product> = {}): Product => ({
  productCode,
  productName: 'Video monthly 视频月卡',
  settlementModes: ['SVC_DEDUCT'],
  periodType: 'MONTH',
  period: 1,
  totalCycles: 12,
  amountCent: 2990,
  benefits: [
    { benefitCode: 'VIDEO_PASS', name: 'Video pass 视频会员', faceValueCent: 3000 },
    { benefitCode: 'MUSIC_PASS', name: 'Music pass', faceValueCent: 1500 },
  ],
  retryDelays: [3600, 21_600, 86_400, 259_200],
  channels: ['yuntu_video', 'northwind_music'],
  version: 1,
  versionOf: null,
  createdAt: at(-80 * DAY),
  ...more,
});
const products: Product[] = [
  product('VIDEO_MONTH', { amountCent: 2590, channels: [] }),
  product('VIDEO_MONTH_V2', { version: 2, versionOf: 'VIDEO_MONTH', createdAt: at(-20 * DAY) }),
  product('VIDEO_YEAR', {
    productName: 'Video yearly <i>special</i>',
    period: 12,
    totalCycles: 3,
    amountCent: 29_800,
    settlementModes: ['SVC_DEDUCT', 'CHANNEL_COLLECT'],
  }),
  product('ENGLISH_WEEK', {
    productName: '每日英语周卡',
    periodType: 'DAY',
    period: 7,
    totalCycles: 52,
    amountCent: 990,
    benefits: [],
    channels: [],
  }),
];

const paymentChannel = (code: string, more: Partial<PaymentChannel> = {}): PaymentChannel => ({
  code,
  gateway: 'bridge',
  displayName: '银联代扣 UnionPay',
  gatewayUrl: 'https://bridge.unipay.internal/v1',
  supportedBanks: ['ICBC', 'CMB', 'BOC', 'CCB', 'ABC'],
  bankCodeRequired: true,
  debitsPerSecond: 40,
  debitHours: { from: 8, to: 22 },
  commonNumbers: false,
  channels: ['yuntu_video', 'northwind_music', 'odd_partner'],
  createdAt: at(-120 * DAY),
  ...more,
});
const paymentChannels: PaymentChannel[] = [
  paymentChannel('UNIPAY'),
  paymentChannel('MOCKPAY', {
    gateway: 'sandbox',
    displayName: 'Sandbox',
    gatewayUrl: null,
    supportedBanks: ['*'],
    bankCodeRequired: false,
    debitsPerSecond: null,
    debitHours: null,
    channels: ['yuntu_video'],
  }),
];

const benefit = (benefitCode: string, more: Partial<Benefit> = {}): Benefit => ({
  benefitCode,
  kind: 'POOL',
  supplierUrl: null,
  codesLeft: 4120,
  claimsWaiting: 0,
  lowStock: 500,
  products: ['VIDEO_MONTH', 'VIDEO_MONTH_V2', 'VIDEO_YEAR'],
  ...more,
});
const benefits = new Map(
  [
    benefit('COFFEE_CUP', { lowStock: null }),
    benefit('VIDEO_PASS', { codesLeft: 38, lowStock: 100 }),
    benefit('MUSIC_PASS', { codesLeft: 0, claimsWaiting: 4 }),
    benefit('DATA_1G', {
      kind: 'SUPPLIER',
      supplierUrl: 'https://supply.example/claims',
      codesLeft: null,
      lowStock: null,
    }),
    benefit('BADGE', { kind: 'GENERATED', codesLeft: null, lowStock: null, products: [] }),
  ].map((one) => [one.benefitCode, one]),
);
const changeBenefit = (code: string | undefined, changes: Partial<Benefit>) => {
  const known = benefits.get(code ?? '');
  if (!known) throw new Refusal(404, 'not-found', 'there is no such benefit');
  const after = { ...known, ...changes };
  benefits.set(known.benefitCode, after);
  return { benefit: after, changed: true };
};

const CALLS = [
  ['/api/v1/order/create', '0', 200, null],
  ['/api/v1/order/query', '0', 200, null],
  ['/api/v1/order/create', '401002', 401, 'signature does not match: the body was signed without its last line'],
  ['/api/v1/agreement/bind', '420004', 200, 'the product is not authorized for this channel'],
  ['/api/v1/token', '429001', 429, 'too many requests'],
  ['/api/v1/order/create', '500001', 500, null],
] as const;
const secret = (seed: number) => {
  const next = random(seed);
  return Buffer.from(Array.from({ length: 32 }, () => Math.floor(256 * next()))).toString('base64');
};

const all: Record<string, Answer> = {
  'GET /events/channels': eventChannels,
  'GET /events': ({ query }): EventsAnswer => {
    const page = Number(query.get('cursor') ?? 0);
    const events = (EMPTY ? [] : Array.from({ length: 25 }, (_, row) => eventLine(page * 25 + row))).filter(
      (one) =>
        (!query.get('status') || one.deliveryStatus === query.get('status')) &&
        (!query.get('eventType') || one.eventType === query.get('eventType')) &&
        (!query.get('orderNo') || one.orderNo === query.get('orderNo')),
    );
    return { events, nextCursor: EMPTY || page > 2 ? null : String(page + 1) };
  },
  'GET /channels/{appId}/events/{eventId}': ({ path }): EventAnswer => {
    const event = eventLine(48_120 - Number(path['eventId']));
    return {
      event,
      data: {
        eventId: event.eventId,
        eventType: event.eventType,
        orderNo: event.orderNo,
        orderStatus: 'ACTIVE',
        mobile: 'ENC:v2:1Qm0b2hh…',
        occurTime: event.occurredAt,
      },
      pushes: Array.from({ length: Math.min(event.pushes, 4) }, (_, no) => ({
        at: at(-4000 + no * 900),
        outcome:
          event.deliveryStatus === 'DELIVERED' && no === Math.min(event.pushes, 4) - 1
            ? 'ACCEPTED'
            : no % 2
              ? 'TIMEOUT'
              : 'REFUSED',
        retryNo: no,
        httpStatus: no % 2 ? null : 502,
        latencyMs: no % 2 ? 5000 : 83,
        answer: no % 2 ? 'no answer within 5000 ms' : '<html><body>Bad gateway</body></html>',
      })),
      nextPushAt: event.deliveryStatus === 'PENDING' ? at(840) : null,
    };
  },
  'POST /channels/{appId}/events/replay': ({ body }) => ({ replayed: (body['eventIds'] as string[]).length }),
  'POST /channels/{appId}/events/pause': ({ path, body }) => {
    const one = need(path['appId']);
    const pausedEvents = [...new Set([...one.pausedEvents, body['eventType'] as '*'])];
    keep({ ...one, pausedEvents });
    return { pausedEvents, changed: true };
  },
  'POST /channels/{appId}/events/resume': ({ path, body }) => {
    const one = need(path['appId']);
    const pausedEvents = one.pausedEvents.filter((type) => type !== body['eventType']);
    keep({ ...one, pausedEvents });
    return { pausedEvents, changed: true };
  },
  'POST /channels/{appId}/events/test': ({ path }): TestEventAnswer => {
    const url = need(path['appId']).callbackUrls[0]?.url;
    if (!url) throw new Refusal(409, 'refused', `channel ${path['appId']} has no address for order.status.changed`);
    return { url, outcome: 'REFUSED', httpStatus: 404, latencyMs: 83, answer: '<h1>Not found</h1>' };
  },
  'POST /bulk': ({ body }): BulkRun => ({
    runId: '12',
    kind: 'REPLAY',
    status: 'PREPARED',
    filter: body['filter'],
    reason: String(body['reason']),
    items: 318,
    amountCent: 0,
    confirmation: 'REPLAY 318',
    needsApproval: false,
    approvalId: null,
    done: 0,
    failed: 0,
    skipped: 0,
    requestedBy: 'ann',
    requestedAt: at(0),
    startedAt: null,
    finishedAt: null,
  }),
  'GET /channels/{appId}/requests': ({ query }): RequestsAnswer => {
    const requests = (EMPTY ? [] : Array.from({ length: 30 }, (_, row) => row)).map((row) => {
      const [endpoint, code, httpStatus, reason] = CALLS[(row * row) % CALLS.length] ?? CALLS[0];
      return {
        at: at(-row * 37),
        endpoint,
        code,
        httpStatus,
        durationMs: 12 + ((row * 7) % 40),
        requestId: `req-7f3a91c2-${row}`,
        reason,
        address: '203.0.113.24',
      };
    });
    const wanted = query.get('code');
    return {
      requests: requests.filter(({ code }) => !wanted || (wanted === 'failed' ? code !== '0' : code === wanted)),
      nextCursor: null,
    };
  },
  'GET /channels/{appId}/requests/summary': (): RequestsSummary => ({
    codes: EMPTY
      ? []
      : [
          { code: '0', meaning: 'success', count: 182_212 },
          { code: '401002', meaning: 'signature does not match', count: 4211 },
          { code: '420004', meaning: 'the product is not authorized for this channel', count: 212 },
          { code: '429001', meaning: 'too many requests', count: 31 },
          { code: '500001', meaning: 'internal error', count: 1 },
        ],
  }),
  'GET /alerts': ({ query }): Alerts => {
    const known = EMPTY ? [] : [...alerts.values()];
    const openOnes = known.filter(isOpen).map(({ kind }) => kind);
    return {
      alerts: known.filter(
        (one) =>
          (query.get('which') === 'all' || isOpen(one)) &&
          (!query.get('kind') || one.kind === query.get('kind')) &&
          (!query.get('owner') || one.owner === query.get('owner')) &&
          (query.get('unowned') !== 'true' || one.owner === null),
      ),
      nextCursor: null,
      kinds: [...new Set(openOnes)].map((kind) => ({ kind, open: openOnes.filter((one) => one === kind).length })),
    };
  },
  'GET /alerts/one': ({ query }): AlertAnswer => {
    const found = alerts.get(`${query.get('kind')} ${query.get('subject')}`);
    if (!found) throw new Refusal(404, 'not-found', 'there is no such alert');
    return {
      alert: found,
      comments: found.comments > 0 ? comments : [],
      messages: [
        { way: 'WEBHOOK', what: 'OPEN', writtenAt: at(-2 * DAY), sentAt: at(-2 * DAY), failure: null },
        { way: 'EMAIL', what: 'OPEN', writtenAt: at(-2 * DAY), sentAt: null, failure: '550 mailbox is full' },
      ],
    };
  },
  'POST /alerts/acknowledge': ({ body }) => changeAlert(body, { acknowledgedBy: 'ann', acknowledgedAt: at(0) }),
  'POST /alerts/owner': ({ body }) => changeAlert(body, { owner: body['owner'] as string | null }),
  'POST /alerts/comments': ({ body }) => {
    comments.push({ author: 'ann', at: at(0), text: String(body['text']) });
    return changeAlert(body, { comments: comments.length });
  },
  'GET /reconciliations': (): Reconciliations => ({
    reconciliations: EMPTY
      ? []
      : Array.from({ length: 9 }, (_, row) => ({
          paymentChannelCode: row % 3 === 2 ? 'MOCKPAY' : 'UNIPAY',
          day: `2026-11-${String(14 - row).padStart(2, '0')}`,
          source: row % 3 === 2 ? 'FILE' : 'GATEWAY',
          lines: 1842 + row * 31,
          differences: [3, 1, 0, 1, 0][row] ?? 0,
          open: [3, 1, 0, 0, 0][row] ?? 0,
          runBy: row % 3 === 2 ? 'finn' : 'engine',
          runAt: at(-row * DAY - 4 * HOUR),
        })),
    nextCursor: null,
  }),
  'POST /reconciliations': ({ body }) => {
    if (String(body['csv'] ?? '').startsWith('bad'))
      throw new Refusal(409, 'refused', 'line 1: it must be kind,number,amountCent,status,bookedAt,institutionRef');
    return {
      paymentChannelCode: body['paymentChannelCode'],
      day: body['day'],
      source: 'FILE',
      lines: 1842,
      differences: 3,
      open: 3,
      runBy: 'ann',
      runAt: at(0),
    };
  },
  'GET /differences': ({ query }): Differences => ({
    differences: (EMPTY ? [] : [...differences.values()]).filter(
      (one) =>
        (query.get('which') === 'all' || one.closedAt === null) &&
        (!query.get('paymentChannelCode') || one.paymentChannelCode === query.get('paymentChannelCode')) &&
        (!query.get('day') || one.day === query.get('day')),
    ),
    nextCursor: null,
  }),
  'POST /differences/{no}/close': ({ path, body }) =>
    changeDifference(path['no'], { closedBy: 'ann', closedAt: at(0), closingNote: String(body['note']) }),
  'PUT /differences/{no}/owner': ({ path, body }) =>
    changeDifference(path['no'], { owner: body['owner'] as string | null }),
  'GET /settlement': months,
  'GET /settlement/{month}': ({ path }) => settlement(path['month'] ?? ''),
  'GET /settlement/{month}/csv': ({ path }) => settlement(path['month'] ?? ''),
  'POST /settlement/{month}/close': ({ path, body }) => {
    const month = path['month'] ?? '';
    if (body['confirmation'] !== month) throw new Refusal(409, 'refused', `to close ${month}, type ${month}`);
    closed.set(month, { closedBy: 'ann', closedAt: at(0) });
    return settlement(month);
  },
  'GET /channels': (): Channels => ({ channels: EMPTY ? [] : [...channels.values()] }),
  'POST /channels': ({ body }) => {
    const made = channel(String(body['appId'] ?? 'test_a1b2c3'), String(body['name']), 1);
    keep(made);
    return { channel: made, credentials: { appSecret: secret(1), aesKey: secret(2), callbackSecret: secret(3) } };
  },
  'GET /channels/{appId}': ({ path }) => need(path['appId']),
  'PUT /channels/{appId}': ({ path, body }) => {
    const one = need(path['appId']);
    const { limits, encryption, callback, ...rest } = body as ChannelChange;
    if (rest.ipAllowList?.includes('nonsense')) throw new Refusal(409, 'refused', '"nonsense" is no address or range');
    const urls = one.callbackUrls.filter(({ eventType }) => eventType !== callback?.eventType);
    return keep({
      ...one,
      ...(rest as Partial<Channel>),
      ...(limits
        ? { ratePerSecond: limits.ratePerSecond, rateBurst: limits.rateBurst ?? 2 * limits.ratePerSecond }
        : {}),
      ...(encryption?.answers ? { answerEncryption: encryption.answers } : {}),
      ...(encryption?.acceptsV1 === undefined ? {} : { acceptsV1: encryption.acceptsV1 }),
      ...(callback
        ? {
            callbackUrls:
              callback.url === null ? urls : [...urls, { eventType: callback.eventType, url: callback.url }],
          }
        : {}),
    });
  },
  'POST /channels/{appId}/credentials': ({ path, body }) => ({
    channel: need(path['appId']),
    credentials: Object.fromEntries((body['names'] as string[]).map((name, seed) => [name, secret(seed + 7)])),
  }),
  'PUT /channels/{appId}/products/{code}': ({ path }) => {
    const one = need(path['appId']);
    return keep({ ...one, products: [...one.products, path['code'] ?? ''] });
  },
  'DELETE /channels/{appId}/products/{code}': ({ path }) => {
    const one = need(path['appId']);
    return keep({ ...one, products: one.products.filter((code) => code !== path['code']) });
  },
  'PUT /channels/{appId}/payment-channels/{code}': ({ path, body }) => {
    const one = need(path['appId']);
    const code = path['code'] ?? '';
    const former = one.paymentChannels.find((each) => each.code === code);
    const after = { code, isDefault: false, shareEnabled: false, ...former, ...body };
    const others = one.paymentChannels
      .filter((each) => each.code !== code)
      .map((each) => (after.isDefault ? { ...each, isDefault: false } : each));
    return keep({ ...one, paymentChannels: [...others, after] });
  },
  'DELETE /channels/{appId}/payment-channels/{code}': ({ path }) => {
    const one = need(path['appId']);
    return keep({ ...one, paymentChannels: one.paymentChannels.filter(({ code }) => code !== path['code']) });
  },
  'GET /products': (): Products => ({ products: EMPTY ? [] : products }),
  'POST /products': ({ body }) => {
    const made = product(String(body['productCode']), { ...(body as Partial<Product>), channels: [] });
    products.push(made);
    return made;
  },
  'GET /products/{code}': ({ path }) => {
    const found = products.find(({ productCode }) => productCode === path['code']);
    if (!found) throw new Refusal(404, 'not-found', 'there is no such product');
    return found;
  },
  'POST /products/{code}/versions': ({ path, body }) => {
    const former = products.find(({ productCode }) => productCode === path['code']);
    if (!former) throw new Refusal(404, 'not-found', 'there is no such product');
    const versionOf = former.versionOf ?? former.productCode;
    const made = {
      ...former,
      ...(body as Partial<Product>),
      productCode: `${versionOf}_V${former.version + 1}`,
      version: former.version + 1,
      versionOf,
      createdAt: at(0),
    };
    products.push(made);
    return made;
  },
  'GET /payment-channels': (): PaymentChannels => ({ paymentChannels: EMPTY ? [] : paymentChannels }),
  'POST /payment-channels': ({ body }) => {
    const made = paymentChannel(String(body['code']), { ...(body as Partial<PaymentChannel>), channels: [] });
    paymentChannels.push(made);
    return { paymentChannel: made, gatewayKey: made.gateway === 'bridge' ? secret(9) : null };
  },
  'PUT /payment-channels/{code}': ({ path, body }) => {
    const place = paymentChannels.findIndex(({ code }) => code === path['code']);
    const after = {
      ...paymentChannel(path['code'] ?? ''),
      ...paymentChannels[place],
      ...(body as Partial<PaymentChannel>),
    };
    paymentChannels[place] = after;
    return { paymentChannel: after, changed: true };
  },
  'POST /payment-channels/{code}/key': ({ path }) => ({
    paymentChannel: paymentChannels.find(({ code }) => code === path['code']),
    gatewayKey: secret(11),
  }),
  'GET /benefits': (): Benefits => ({ benefits: EMPTY ? [] : [...benefits.values()] }),
  'PUT /benefits/{code}/fulfilment': ({ path, body }) =>
    changeBenefit(path['code'], { kind: String(body['kind']).toUpperCase() as Benefit['kind'] }),
  'POST /benefits/{code}/codes': ({ path, body }): CodesAnswer => {
    const lines = String(body['codes']).split('\n').filter(Boolean).length;
    const { codesLeft } = benefits.get(path['code'] ?? '') ?? {};
    const { benefit: after } = changeBenefit(path['code'], { codesLeft: (codesLeft ?? 0) + lines, claimsWaiting: 0 });
    return { benefit: after, imported: lines, knownBefore: 2, repeated: 0, served: 4 };
  },
  'PUT /benefits/{code}/low-stock': ({ path, body }) =>
    changeBenefit(path['code'], { lowStock: body['lowStock'] as number | null }),
};

/** FAULT=yes: how the pages look when the service cannot. */
export const operationsAnswers: Record<string, Answer> = FAULT
  ? Object.fromEntries(
      Object.keys(all).map((key) => [
        key,
        () => {
          throw new Refusal(500, 'fault', 'internal error');
        },
      ]),
    )
  : all;
