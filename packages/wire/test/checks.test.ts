import { describe, expect, it } from 'vitest';
import { maskCardNumbers } from '../src/card-numbers.js';
import { ENDPOINTS, type EndpointName } from '../src/endpoints.js';
import { orderA1, orderA2, orderB } from './examples.js';

type Create = Record<string, unknown>;

const { sharedAgreement } = orderA2;

const paramInvalid = (detail: string) =>
  expect.objectContaining({ detail, result: expect.objectContaining({ code: '400001' }) });

const EXCLUSIVE = 'orderNo and externalOrderNo are mutually exclusive';

const check = (name: EndpointName, body: object) => (ENDPOINTS[name] as { check?(body: object): void }).check?.(body);

const without = (body: Create, field: string): Create => ({ ...body, [field]: undefined });

/** Returns the body with any value that a channel may send as channelAgreementRef. */
const withReference = (body: Create, channelAgreementRef: unknown): Create => ({ ...body, channelAgreementRef });

describe('orders/create', () => {
  const accepted: [string, Create][] = [
    ['A.1', orderA1],
    ['A.1 that also names the user', { ...orderA1, channelUserId: 'user-1', mobileEncrypted: 'x' }],
    ['A.1 with the reference of mode B, which is ignored', { ...orderA1, channelAgreementRef: 'ref' }],
    ['A.1 with something else in its place', withReference(orderA1, 7)],
    ['A.2 with more than a text may have', withReference(orderA2, 'x'.repeat(1025))],
    ['A.2', orderA2],
    ['B', orderB],
    ['B with its reference', { ...orderB, channelAgreementRef: 'ref' }],
    ['B with null for one, which counts as absent', withReference(orderB, null)],
    ['B with an empty one', { ...orderB, channelAgreementRef: '' }],
    ['B with the longest, counted in code points', { ...orderB, channelAgreementRef: '😀'.repeat(1024) }],
  ];
  it.each(accepted)('accepts %s', (_name, body) => {
    expect(() => check('orders/create', body)).not.toThrow();
  });

  const refused: [string, Create, string][] = [
    [
      'A with neither agreement',
      without(orderA1, 'bindOrderNo'),
      'bindOrderNo or sharedAgreement is required with SVC_DEDUCT',
    ],
    [
      'A with both agreements',
      { ...orderA2, bindOrderNo: '1' },
      'bindOrderNo and sharedAgreement are mutually exclusive',
    ],
    ['A.2 without the user', without(orderA2, 'channelUserId'), 'channelUserId is required'],
    ['A.2 without the mobile', without(orderA2, 'mobileEncrypted'), 'mobileEncrypted is required'],
    [
      'A.2 with another user inside',
      { ...orderA2, sharedAgreement: { ...sharedAgreement, channelUserId: 'user-2' } },
      'sharedAgreement.channelUserId must equal channelUserId',
    ],
    ['B with a binding', { ...orderB, bindOrderNo: '1' }, 'bindOrderNo is not allowed with CHANNEL_COLLECT'],
    [
      'B with a shared agreement',
      { ...orderB, sharedAgreement },
      'sharedAgreement is not allowed with CHANNEL_COLLECT',
    ],
    ['B without the user', without(orderB, 'channelUserId'), 'channelUserId is required'],
    ['B without the mobile', without(orderB, 'mobileEncrypted'), 'mobileEncrypted is required'],
    ['B with a reference that is no text', withReference(orderB, 7), 'channelAgreementRef must be string'],
    [
      'B with one that is too long',
      withReference(orderB, '😀'.repeat(1025)),
      'channelAgreementRef must NOT have more than 1024 characters',
    ],
    [
      'B with one that cannot be stored',
      withReference(orderB, 'a\u0000b'),
      'channelAgreementRef contains a character that is not allowed',
    ],
  ];
  it.each(refused)('refuses %s', (_name, body, detail) => {
    expect(() => check('orders/create', body)).toThrow(paramInvalid(detail));
  });
});

/** These requests match their schema but break a further rule, which a function checks. */
const REFUSED: readonly (readonly [EndpointName, string, object, string])[] = [
  ['orders/query', 'no order', {}, 'orderNo or externalOrderNo is required'],
  ['orders/query', 'two orders', { orderNo: '1', externalOrderNo: '1' }, EXCLUSIVE],
  ['sandbox/orders/advance', 'no order', { cycles: 1 }, 'orderNo or externalOrderNo is required'],
  ['sandbox/orders/advance', 'two orders', { orderNo: '1', externalOrderNo: '1', to: 'x' }, EXCLUSIVE],
  ['sandbox/orders/advance', 'no end', { orderNo: '1', outcomes: ['FAIL'] }, 'cycles or to is required'],
  ['sandbox/orders/advance', 'two ends', { orderNo: '1', cycles: 1, to: 'x' }, 'cycles and to are mutually exclusive'],
  ['sandbox/orders/advance', 'no time', { orderNo: '1', to: '2026-02-30 00:00:00' }, 'to must be a time'],
  [
    'sandbox/orders/advance',
    'more outcomes than periods',
    { orderNo: '1', cycles: 1, outcomes: ['FAIL', 'FAIL'] },
    'outcomes must not have more entries than cycles',
  ],
  [
    'agreements/user-data',
    'no filter, paging or not',
    { page: 1, size: 10 },
    'one of channelUserId, bankCardNoEncrypted, certificateNoEncrypted is required',
  ],
  ['events/list', 'two orders', { orderNo: '1', externalOrderNo: '1' }, EXCLUSIVE],
  ['events/list', 'a beginning that is no time', { from: 'yesterday' }, 'from must be a time'],
  ['events/list', 'an end that is no time', { from: '2026-02-01 00:00:00', to: '2026-02-30' }, 'to must be a time'],
  ['events/replay', 'nothing', {}, 'eventIds, from or to is required'],
  ['events/replay', 'ids and a time', { eventIds: ['1'], to: 'x' }, 'eventIds and a time range are mutually exclusive'],
  ['events/replay', 'a beginning that is no time', { from: '2026-02-30 00:00:00' }, 'from must be a time'],
  ['events/replay', 'an end that is no time', { to: 'x' }, 'to must be a time'],
  [
    'sandbox/channel/set',
    'an overlap without a new app secret',
    { overlapHours: 1 },
    'overlapHours needs appSecretEncrypted: only the app secret can overlap',
  ],
  ['sandbox/events/pull', 'a beginning that is no time', { path: '/', from: 'yesterday' }, 'from must be a time'],
  // Invalid paths: without a leading slash, with a query, a whole URL, with a character that clients encode, with a
  // line break.
  ...['events', '/events?a=1', 'http://localhost/events', '/事', '/events\n'].map(
    (path) => ['sandbox/events/pull', path, { path }, 'path must be a URL path such as /events'] as const,
  ),
];
it.each(REFUSED)('%s refuses %s', (name, _what, body, detail) => {
  expect(() => check(name, body)).toThrow(paramInvalid(detail));
});

it.each(['/', '/events', '/a/b.c/~d', '/%E4%BA%8B', "/!$&'()*+,;=:@"])('sandbox/events/pull accepts %s', (path) => {
  expect(() => check('sandbox/events/pull', { path })).not.toThrow();
});

describe('card numbers in free texts', () => {
  it.each([
    ['4111111111111111', '411111******1111'],
    ['card 4111 1111-1111 1111.', 'card 411111******1111.'],
    ['5 6222 0200 0000 1239 870 7', '5 622202******9870 7'],
    ['4222222222222, 4111111111111111', '422222******2222, 411111******1111'],
    ['４１１１１１１１１１１１１１１１', '411111******1111'],
    ['٤١١١١١١١١١١١١١١١', '411111******1111'],
    ...['  ', '_', '/', ', ', '\u200b', ' \u200b'].map((gap) => [
      `to ${['4111', '1111', '1111', '1111'].join(gap)}.`,
      'to 411111******1111.',
    ]),
    ['4111111111111111123 3782822463100051234', '411111******1111 378282******0005'],
    ['4111 1111 1111 1111123', '411111******1111'],
    ['2026-11-18 04:35:11 4111111111111111', '2026-11-18 04:35:11 411111******1111'],
  ])('are masked: %s', (text, masked) => {
    expect(maskCardNumbers(text)).toBe(masked);
  });

  /**
   * A wrong check digit; no issuer's prefix; 12 and 20 digits; groups with three spaces or letters; digits of a longer
   * group; times and lists.
   */
  it.each([
    '4111111111111112',
    '1000000010000006',
    '2026111800000008',
    '422222222222',
    '41111111111111111111',
    '4111   1111   1111   1111',
    '4111x1111x1111x1111',
    '94111111111111111 1',
    '4111111111111112123',
    '2026-11-25 04:35:11.000007',
    '2026-11-25 04:35:11, 2026-12-25 04:35:11',
    '100000001000, 100000001003, 100000001007',
  ])('are not seen in %s', (text) => {
    expect(maskCardNumbers(text)).toBe(text);
  });
});
