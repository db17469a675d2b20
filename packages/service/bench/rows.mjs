import { randomInt } from 'node:crypto';
import { encryptField } from '@perennial/wire';
import { FIRST_ORDER, placeAtFirstChannel, userOf } from './growth/load.mjs';
import { claimBenefit, openPage } from './redeem.mjs';

/** The payment channel of mode A: the reference institution, a separate process behind the bridge. */
export const BRIDGE = 'BENCHBANK';
const PRODUCT = 'TEST_SPU_001';

/**
 * The measured rows. Each has an endpoint with its bodies or a path with its requests, its numbers of connections (each
 * connection sends its next request after a response), and its reference: the bare route, pgbench, or the same row
 * without a viewer of the console. pgbench runs the statements recorded from the service, and then the row's `script`
 * from pgbench/, which only writes or reads the database rows. `body` is called for every request, so that writes can
 * differ.
 */
const KINDS = [
  { kind: 'products/list', endpoint: 'products/list', connections: [32, 1], beside: 'bare', body: () => ({}) },
  {
    kind: 'auth/token',
    endpoint: 'auth/token',
    connections: [32, 1],
    beside: 'bare',
    body: ({ appId }) => ({ grantType: 'client_credentials', appId }),
  },
  {
    kind: 'orders/create B',
    endpoint: 'orders/create',
    connections: [16, 32],
    beside: 'pgbench',
    script: 'create-b.sql',
    body: (channel) => ({ ...newOrder(channel), settlementMode: 'CHANNEL_COLLECT' }),
  },
  {
    kind: 'orders/create A.2 over the bridge',
    endpoint: 'orders/create',
    connections: [32],
    beside: 'pgbench',
    script: 'create-a2.sql',
    needsInstitution: true,
    body: createShared,
  },
  {
    kind: 'orders/query',
    endpoint: 'orders/query',
    connections: [32],
    beside: 'pgbench',
    script: 'query.sql',
    needsOrders: true,
    body: queryOrder,
  },
  {
    kind: 'orders/query beside the console',
    endpoint: 'orders/query',
    connections: [4],
    beside: 'quiet',
    needsOrders: true,
    body: queryOrder,
  },
  {
    kind: 'redeem page',
    path: '/redeem',
    connections: [32],
    beside: 'bare',
    needsRedeemable: true,
    request: openPage,
  },
  {
    kind: 'redeem claim',
    path: '/redeem/claim',
    connections: [32],
    beside: 'bare',
    needsRedeemable: true,
    request: claimBenefit,
  },
];

/** The load beside a row: a viewer of the console who requests all GET paths except files, over many connections. */
export const VIEWER = { name: 'viewer', connections: 60, request: getAnything };

/** Rows that are measured on a growing database. Queries and lists use the loaded orders of the channel. */
const GROWTH_KINDS = [
  {
    kind: 'growth create',
    endpoint: 'orders/create',
    connections: [16],
    body: (channel) => ({ ...newOrder(channel), productCode: 'MONTHLY', settlementMode: 'CHANNEL_COLLECT' }),
  },
  {
    kind: 'growth create A.2',
    endpoint: 'orders/create',
    connections: [16],
    body: (channel) => ({ ...createShared(channel), productCode: 'MONTHLY' }),
  },
  {
    kind: 'growth query',
    endpoint: 'orders/query',
    connections: [16],
    body: ({ orders }) => ({ orderNo: String(FIRST_ORDER + loadedPlace(orders)) }),
  },
  {
    kind: 'growth list',
    endpoint: 'orders/list',
    connections: [16],
    body: ({ orders }) => ({ channelUserId: userOf(loadedPlace(orders)) }),
  },
];

const loadedPlace = (orders) => placeAtFirstChannel(randomInt(Math.floor(orders / 3)));

const rowsOf = (kinds) =>
  kinds.flatMap(({ connections: all, ...row }) =>
    all.map((connections) => ({ ...row, connections, name: `${row.kind} x${connections}` })),
  );

export const ROWS = rowsOf(KINDS);
const GROWTH_ROWS = rowsOf(GROWTH_KINDS);

export function rowNamed(name) {
  const row = [...ROWS, ...GROWTH_ROWS, VIEWER].find((one) => one.name === name);
  if (!row) throw new Error(`there is no row ${name}`);
  return row;
}

let made = 0;

/** A text that makes numbers and users unique among processes: the process id and the start time. */
const serial = `${process.pid.toString(36)}${Date.now().toString(36)}`;

function queryOrder({ orders }) {
  return { orderNo: String(randomInt(orders.first, orders.last + 1)) };
}

let viewed = 0;

/** Returns a request of a viewer, for all paths in turn. Any answer is accepted: some paths refuse a viewer. */
function getAnything({ viewer: { cookie, paths } }) {
  viewed += 1;
  return { method: 'GET', path: paths[viewed % paths.length], headers: { cookie }, body: '', expects: 'HTTP/1.1 ' };
}

/** Returns an order with a new number, user and mobile. */
function newOrder({ aesKey }) {
  made += 1;
  const mobile = `1${String((made * 7_919 + process.pid) % 10_000_000_000).padStart(10, '0')}`;
  return {
    externalOrderNo: `bench-${serial}-${made}`,
    productCode: PRODUCT,
    channelUserId: `user-${serial}-${made}`,
    mobileEncrypted: encryptField(mobile, Buffer.from(aesKey, 'base64')),
  };
}

function createShared(channel) {
  const order = newOrder(channel);
  const sealed = (text) => encryptField(text, Buffer.from(channel.aesKey, 'base64'));
  return {
    ...order,
    settlementMode: 'SVC_DEDUCT',
    sharedAgreement: {
      paymentChannelCode: BRIDGE,
      // The last four characters select a fault of the institution. "good" selects none.
      sharedAgreementNo: `${order.externalOrderNo}-good`,
      bankCardNoEncrypted: sealed('6222020000001234567'),
      bankMobileEncrypted: sealed('13800000001'),
      certificateNoEncrypted: sealed('110101199001011234'),
      realNameEncrypted: sealed('张三'),
      channelUserId: order.channelUserId,
    },
  };
}
