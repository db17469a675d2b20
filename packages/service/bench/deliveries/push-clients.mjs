// node packages/service/bench/deliveries/push-clients.mjs [pushes] [runs]
// Measures one push over connections that stay open. The service's own push client and undici take turns, against the
// same receivers in a separate process. There is no database, and the pushes are signed in advance.
import { randomBytes } from 'node:crypto';
import net from 'node:net';
import { performance } from 'node:perf_hooks';
import { Pool, request } from 'undici';
import { signPush } from '../../dist/delivery/receivers/message.js';
import { createPushClient } from '../../dist/delivery/transport/push-client.js';
import { isAccepted } from '../../dist/delivery/transport/push-result.js';
import { processes } from '../processes.mjs';
import { median } from '../table.mjs';

const RECEIVERS = 10;
/** The number of pushes in flight to one address, as in the engine. */
const AT_ONCE = 8;
const DEADLINE_MS = 5_000;
const [pushes = 100_000, runs = 5] = process.argv.slice(2).map(Number);

const SECRET = randomBytes(32);
const SIGNED = Array.from({ length: 1_000 }, (_, index) => {
  const eventId = String(4_000_000 + index);
  const data = {
    orderNo: String(400_000_000_000 + index),
    externalOrderNo: `bench-order-${index}`,
    paymentOrderNo: String(4_000_000_000_000_002 + index * 10_000),
    channelUserId: `bench-user-${index}`,
    mobileEncrypted: null,
    cycleNo: 2,
    expectPayTime: '2026-01-01 00:00:00',
    paidAt: '2026-01-01 00:00:00',
    amountCent: 1_900,
    refundTime: null,
    refundAmountCent: 0,
    paymentStatus: 'BILLED',
    agreementShareFlag: false,
  };
  const message = {
    due: { retryNo: 0 },
    eventId,
    head: `{"eventId":"${eventId}","eventType":"payment.status.changed","occurredAt":"2026-01-01 00:00:00","retryNo":`,
    tail: `,"data":${JSON.stringify(data)}}`,
  };
  const receiver = { appId: 'app_0123456789abcdef', callbackSecret: SECRET };
  const signed = signPush(receiver, '/events', message, 1_767_225_600_000);
  const lines = signed.headers.trimEnd().split('\r\n');
  const pairs = ['User-Agent', 'Perennial', ...lines.flatMap((line) => line.split(': '))];
  return { signed, pairs };
});

/** The clients. Each has a function `push`, which sends one push and returns whether it was accepted. */
const CLIENTS = {
  own(ports) {
    const client = createPushClient({ allowLocalhost: true });
    const urls = ports.map((port) => `http://127.0.0.1:${port}/events`);
    return {
      push: (at, { signed }) => client.push(urls[at], () => signed).then(({ outcome }) => outcome === 'ACCEPTED'),
      close: () => client.close(),
    };
  },
  'undici dispatch'(ports) {
    const pools = poolsOf(ports);
    return {
      push: (at, { signed, pairs }) =>
        new Promise((resolve, reject) => {
          let status = 0;
          const parts = [];
          pools[at].dispatch(
            { path: '/events', method: 'POST', headers: pairs, body: signed.body },
            {
              onRequestStart: () => undefined,
              onResponseStart(_controller, statusCode) {
                status = statusCode;
              },
              onResponseData: (_controller, chunk) => void parts.push(chunk),
              onResponseEnd: () => resolve(isAccepted({ status, body: Buffer.concat(parts).toString(), isCut: false })),
              onResponseError: (_controller, error) => reject(error),
            },
          );
        }),
      close: () => Promise.all(pools.map((pool) => pool.close())),
    };
  },
  'undici request'(ports) {
    const pools = poolsOf(ports);
    return {
      async push(at, { signed, pairs }) {
        const answer = await request(`http://127.0.0.1:${ports[at]}/events`, {
          dispatcher: pools[at],
          method: 'POST',
          headers: pairs,
          body: signed.body,
        });
        return isAccepted({ status: answer.statusCode, body: await answer.body.text(), isCut: false });
      },
      close: () => Promise.all(pools.map((pool) => pool.close())),
    };
  },
};

/** Connects to the IP address without a look-up, as the service does after checking the address. */
function poolsOf(ports) {
  return ports.map(
    (port) =>
      new Pool(`http://127.0.0.1:${port}`, {
        connections: AT_ONCE,
        headersTimeout: DEADLINE_MS,
        bodyTimeout: DEADLINE_MS,
        connect(_options, callback) {
          const socket = net.connect({ host: '127.0.0.1', port, noDelay: true });
          socket.once('connect', () => callback(null, socket)).once('error', (error) => callback(error, null));
        },
      }),
  );
}

async function measure(open, ports, count) {
  const client = open(ports);
  let next = 0;
  const lane = async (at) => {
    while (next < count) {
      const one = SIGNED[next++ % SIGNED.length];
      if (!(await client.push(at, one))) throw new Error('a push was not accepted');
    }
  };
  const since = performance.now();
  const before = process.cpuUsage();
  await Promise.all(ports.flatMap((_port, at) => Array.from({ length: AT_ONCE }, () => lane(at))));
  const { user, system } = process.cpuUsage(before);
  const seconds = (performance.now() - since) / 1000;
  await client.close();
  return { rate: count / seconds, cpu: (user + system) / count };
}

const running = processes();
try {
  const { value } = await running.startHelper('the receivers', 'deliveries/receiver.mjs').ask('open', {
    receivers: RECEIVERS,
  });
  const results = new Map(Object.keys(CLIENTS).map((name) => [name, []]));
  for (const open of Object.values(CLIENTS)) await measure(open, value.accepting, 10_000);
  for (let run = 0; run < runs; run += 1) {
    for (const [name, open] of Object.entries(CLIENTS)) {
      results.get(name).push(await measure(open, value.accepting, pushes));
    }
  }
  for (const [name, all] of results) {
    const [rate, cpu] = ['rate', 'cpu'].map((what) => all.map((one) => one[what]));
    const spread = `${Math.min(...cpu).toFixed(1)} to ${Math.max(...cpu).toFixed(1)}`;
    process.stdout.write(
      `${name}: ${median(cpu).toFixed(1)} µs of CPU a push (${spread}), ${Math.round(median(rate))} pushes/s\n`,
    );
  }
} finally {
  await running.stop();
}
