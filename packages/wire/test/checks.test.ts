import { describe, expect, it } from 'vitest';
import { endpoints, type RequestOf } from '../src/endpoints.js';
import { userDataChecks } from '../src/schemas/agreements.js';
import {
  type EventsListRequest,
  type EventsReplayRequest,
  eventsListChecks,
  eventsReplayChecks,
} from '../src/schemas/events-history.js';
import { type EventsPullRequest, eventsPullChecks } from '../src/schemas/events-pull.js';
import { orderReferenceChecks } from '../src/schemas/order-reference.js';
import { type OrdersAdvanceRequest, ordersAdvanceChecks } from '../src/schemas/orders-advance.js';
import { ordersCreateChecks } from '../src/schemas/orders-create-checks.js';
import { orderA1, orderA2, orderB, sharedAgreement } from './examples.js';

type Create = RequestOf<'orders/create'>;

const paramInvalid = (detail: string) =>
  expect.objectContaining({ detail, result: expect.objectContaining({ code: '400001' }) });

function without(body: Create, ...fields: (keyof Create)[]): Create {
  const copy = { ...body };
  for (const field of fields) delete copy[field];
  return copy;
}

/** Whatever a channel may send there. */
function withReference(body: Create, channelAgreementRef: unknown): Create {
  return { ...body, channelAgreementRef } as Create;
}

describe('ordersCreateChecks', () => {
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
    expect(() => ordersCreateChecks(body)).not.toThrow();
  });

  const refused: [string, Create, string][] = [
    [
      'A with neither agreement',
      without(orderA1, 'bindOrderNo'),
      'bindOrderNo or sharedAgreement is required with SVC_DEDUCT',
    ],
    ['A with both agreements', { ...orderA2, bindOrderNo: '1' }, 'bindOrderNo and sharedAgreement exclude each other'],
    ['A.2 without the user', without(orderA2, 'channelUserId'), 'channelUserId is required'],
    ['A.2 without the mobile', without(orderA2, 'mobileEncrypted'), 'mobileEncrypted is required'],
    [
      'A.2 with another user inside',
      { ...orderA2, sharedAgreement: { ...sharedAgreement, channelUserId: 'user-2' } },
      'sharedAgreement.channelUserId differs from channelUserId',
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
      'channelAgreementRef holds a character that is not allowed',
    ],
  ];
  it.each(refused)('refuses %s', (_name, body, detail) => {
    expect(() => ordersCreateChecks(body)).toThrow(paramInvalid(detail));
  });
});

describe('orderReferenceChecks', () => {
  it('accepts exactly one name of the order', () => {
    expect(() => orderReferenceChecks({ orderNo: '1' })).not.toThrow();
    expect(() => orderReferenceChecks({ externalOrderNo: '1' })).not.toThrow();
  });

  it('refuses none and both', () => {
    expect(() => orderReferenceChecks({})).toThrow(paramInvalid('orderNo or externalOrderNo is required'));
    expect(() => orderReferenceChecks({ orderNo: '1', externalOrderNo: '1' })).toThrow(
      paramInvalid('orderNo and externalOrderNo exclude each other'),
    );
  });
});

describe('ordersAdvanceChecks', () => {
  const rows: [string, OrdersAdvanceRequest, string][] = [
    ['no order', { cycles: 1 }, 'orderNo or externalOrderNo is required'],
    ['two orders', { orderNo: '1', externalOrderNo: '1', to: 'x' }, 'orderNo and externalOrderNo exclude each other'],
    ['no end', { orderNo: '1', outcomes: ['FAIL'] }, 'cycles or to is required'],
    ['two ends', { orderNo: '1', cycles: 1, to: 'x' }, 'cycles and to exclude each other'],
    ['an end that is no time', { orderNo: '1', to: '2026-02-30 00:00:00' }, 'to must be a time'],
    [
      'more outcomes than periods',
      { orderNo: '1', cycles: 1, outcomes: ['FAIL', 'FAIL'] },
      'outcomes are more than cycles',
    ],
  ];
  it.each(rows)('refuses %s', (_name, body, detail) => {
    expect(() => ordersAdvanceChecks(body)).toThrow(paramInvalid(detail));
  });
});

describe('userDataChecks', () => {
  it('accepts any one filter', () => {
    expect(() => userDataChecks({ channelUserId: 'u' })).not.toThrow();
    expect(() => userDataChecks({ bankCardNoEncrypted: 'x' })).not.toThrow();
    expect(() => userDataChecks({ certificateNoEncrypted: 'x' })).not.toThrow();
  });

  it('refuses none, paging or not', () => {
    const detail = 'one of channelUserId, bankCardNoEncrypted, certificateNoEncrypted is required';
    expect(() => userDataChecks({})).toThrow(paramInvalid(detail));
    expect(() => userDataChecks({ page: 1, size: 10 })).toThrow(paramInvalid(detail));
  });
});

describe('eventsListChecks', () => {
  const rows: [string, EventsListRequest, string][] = [
    ['two orders', { orderNo: '1', externalOrderNo: '1' }, 'orderNo and externalOrderNo exclude each other'],
    ['a beginning that is no time', { from: 'yesterday' }, 'from must be a time'],
    ['an end that is no time', { from: '2026-02-01 00:00:00', to: '2026-02-30 00:00:00' }, 'to must be a time'],
  ];
  it.each(rows)('refuses %s', (_name, body, detail) => {
    expect(() => eventsListChecks(body)).toThrow(paramInvalid(detail));
  });
});

describe('page and cursor', () => {
  const lists = endpoints.filter(({ request }) => JSON.stringify(request).includes('"page"'));
  it('five lists have both', () => {
    expect(lists.map(({ name }) => name)).toEqual([
      'products/list',
      'payment-channels/list',
      'agreements/user-data',
      'orders/list',
      'events/list',
    ]);
  });
  it.each(lists.map((one) => [one.name, one] as const))('%s takes one of them', (_name, { check }) => {
    const body = { channelUserId: 'u' };
    expect(() => check?.({ ...body, page: 2, size: 1 })).not.toThrow();
    expect(() => check?.({ ...body, cursor: 'x', size: 1 })).not.toThrow();
    expect(() => check?.({ ...body, page: 1, cursor: 'x' })).toThrow(
      paramInvalid('page and cursor exclude each other'),
    );
  });
});

describe('eventsReplayChecks', () => {
  const rows: [string, EventsReplayRequest, string][] = [
    ['nothing', {}, 'eventIds, from or to is required'],
    ['ids and a time', { eventIds: ['1'], to: 'x' }, 'eventIds and a range of time exclude each other'],
    ['a beginning that is no time', { from: '2026-02-30 00:00:00' }, 'from must be a time'],
    ['an end that is no time', { to: 'x' }, 'to must be a time'],
  ];
  it.each(rows)('refuses %s', (_name, body, detail) => {
    expect(() => eventsReplayChecks(body)).toThrow(paramInvalid(detail));
  });
});

describe('eventsPullChecks', () => {
  it.each(['/', '/events', '/a/b.c/~d', '/%E4%BA%8B', "/!$&'()*+,;=:@"])('takes the path %s', (path) => {
    expect(() => eventsPullChecks({ path })).not.toThrow();
  });

  const rows: [string, EventsPullRequest, string][] = [
    ['no path', { path: 'events' }, 'path must be the path of an address'],
    ['a query', { path: '/events?a=1' }, 'path must be the path of an address'],
    ['a whole address', { path: 'http://localhost/events' }, 'path must be the path of an address'],
    ['what a client writes in another way', { path: '/事' }, 'path must be the path of an address'],
    ['a second line', { path: '/events\n' }, 'path must be the path of an address'],
    ['a beginning that is no time', { path: '/', from: 'yesterday' }, 'from must be a time'],
  ];
  it.each(rows)('refuses %s', (_name, body, detail) => {
    expect(() => eventsPullChecks(body)).toThrow(paramInvalid(detail));
  });
});
