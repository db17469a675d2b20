import { createHash, randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { HEADER_KEYS, signWebhook, verifySignature } from '@perennial/wire';
import { createNodeReceiver } from 'perennial-channel';
import { beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../docs/pages.js';
import { freePort } from '../support/free-port.js';
import { listen } from '../support/listen.js';
import { start, until } from '../support/processes.js';
import { type CommandOptions, runCommand } from './support.js';

const secret = () => randomBytes(32).toString('base64');
const credentials = {
  baseUrl: 'http://127.0.0.1:1',
  appId: 'test_receiver',
  appSecret: secret(),
  aesKey: secret(),
  callbackSecret: secret(),
};
const env = {
  PERENNIAL_BASE_URL: credentials.baseUrl,
  PERENNIAL_APP_ID: credentials.appId,
  PERENNIAL_APP_SECRET: credentials.appSecret,
  PERENNIAL_AES_KEY: credentials.aesKey,
  PERENNIAL_CALLBACK_SECRET: credentials.callbackSecret,
};

const serve = async (handle: http.RequestListener): Promise<string> =>
  `http://127.0.0.1:${await listen(http.createServer(handle))}/events`;

interface Verdict {
  readonly name: string;
  readonly duty: string;
  readonly expected: string;
  readonly isMet: boolean | null;
  readonly advice: string;
  readonly eventId?: string;
}

async function check(url: string, more: readonly string[] = [], options: CommandOptions = {}) {
  const { status, json } = await runCommand(['check-receiver', url, '--json', ...more], { env, ...options });
  const verdicts: readonly Verdict[] = json.verdicts;
  const names = (wanted: boolean | null) => verdicts.filter(({ isMet }) => isMet === wanted).map(({ name }) => name);
  return { status, verdicts, unmet: names(false), unjudged: names(null) };
}

/** The ways in which a typical handwritten receiver differs from a correct one. Each test sets one fault. */
interface Wrong {
  /** Returns the bytes over which the receiver verifies the signature. Default: the received body. */
  readonly signed?: (body: Buffer) => Buffer | string;
  readonly isSigned?: (isSigned: boolean, request: http.IncomingMessage) => boolean;
  readonly path?: (path: string) => string;
  readonly eventId?: (header: string, body: string) => string;
  readonly secrets?: readonly string[];
  /** Compares signatures. */
  readonly isSame?: (given: string, expected: string) => boolean;
  /** Returns whether the receiver rejects the timestamp as too old, given its age in milliseconds. */
  readonly isStale?: (ageMs: number) => boolean;
  readonly takesGet?: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: receivers look into events freely
  readonly deal?: (event: any) => object | 'hang';
}

function receive(wrong: Wrong = {}): http.RequestListener {
  return async (request, response) => {
    const body = await buffer(request);
    const answer = (status: number, content: object) =>
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(content));
    if (request.method !== 'POST') return wrong.takesGet ? answer(200, { code: '0' }) : answer(405, { code: 'no' });
    const header = (name: keyof typeof HEADER_KEYS) => String(request.headers[HEADER_KEYS[name]] ?? '');
    const parts = {
      path: (wrong.path ?? ((own) => own))('/events'),
      bodySha256: createHash('sha256')
        .update(wrong.signed?.(body) ?? body)
        .digest('hex'),
      timestamp: header('timestamp'),
      nonce: header('nonce'),
      eventId: wrong.eventId?.(header('eventId'), body.toString()) ?? header('eventId'),
    };
    const isRight = (wrong.secrets ?? [credentials.callbackSecret]).some((one) =>
      (wrong.isSame ?? verifySignature)(header('signature'), signWebhook(parts, Buffer.from(one, 'base64'))),
    );
    if (!(wrong.isSigned?.(isRight, request) ?? isRight)) return answer(401, { code: 'signature' });
    const isStale = wrong.isStale ?? ((ageMs: number) => Math.abs(ageMs) > 300_000);
    if (isStale(Date.now() - Number(header('timestamp')))) return answer(401, { code: 'old' });
    const dealt = wrong.deal?.(JSON.parse(body.toString())) ?? { code: '0' };
    if (dealt !== 'hang') answer(200, dealt);
    return undefined;
  };
}

const refusing = () => ({ code: 'refused' });
const unsigned = [
  'tampered body',
  'wrong signature',
  'missing signature',
  'empty signature',
  'shortened signature',
  'signature in other case',
  'unknown secret',
  'another path',
  'another event id',
];

/** Each fault by name, with the receiver that has it and the checks that it fails. */
const FAULTS: Readonly<Record<string, readonly [wrong: () => Wrong, unmet: readonly string[]]>> = {
  'checks no signature': [() => ({ isSigned: () => true }), unsigned],
  'checks a signature only if there is one': [
    () => ({ isSigned: (isSigned, { headers }) => isSigned || headers[HEADER_KEYS.signature] === undefined }),
    ['missing signature'],
  ],
  'takes an empty signature for none': [
    () => ({ isSigned: (isSigned, { headers }) => isSigned || headers[HEADER_KEYS.signature] === '' }),
    ['empty signature'],
  ],
  'compares as much of a signature as there is': [
    () => ({ isSame: (given, expected) => expected.startsWith(given) }),
    ['missing signature', 'empty signature', 'shortened signature'],
  ],
  'compares the first bytes of a signature': [
    () => ({ isSame: (given, expected) => given.length > 8 && given.slice(0, 30) === expected.slice(0, 30) }),
    ['shortened signature'],
  ],
  'compares signatures without regard to case': [
    () => ({ isSame: (given, expected) => given.toLowerCase() === expected.toLowerCase() }),
    ['signature in other case'],
  ],
  'signs what it has parsed and written again': [
    () => ({ signed: (body) => JSON.stringify(JSON.parse(body.toString())) }),
    ['other spacing and order'],
  ],
  'takes the body for Latin-1': [
    () => ({ signed: (body) => Buffer.from(body.toString('latin1')) }),
    ['not ASCII', 'large'],
  ],
  'signs without its path': [() => ({ path: () => '' }), ['good']],
  'takes the event id of the body': [
    () => ({ eventId: (_header, body) => JSON.parse(body).eventId }),
    ['another event id'],
  ],
  'refuses what it knows already': [
    () => {
      const known = new Set();
      return { deal: ({ eventId }) => (known.size === known.add(eventId).size ? refusing() : { code: '0' }) };
    },
    ['repeated'],
  ],
  'wants the order of things': [
    () => {
      let isOver = false;
      return {
        deal: ({ data }) => {
          if (isOver && data.cycleNo === 2) return refusing();
          isOver ||= data.orderStatus === 'COMPLETED';
          return { code: '0' };
        },
      };
    },
    ['reordered'],
  ],
  'answers the number 0': [() => ({ deal: () => ({ code: 0 }) }), ['good']],
  'has too little room': [
    () => ({ deal: ({ data }) => (data.externalOrderNo?.length > 64 ? refusing() : { code: '0' }) }),
    ['large'],
  ],
  'takes what is old': [() => ({ isStale: (ageMs) => ageMs < -300_000 }), ['stale timestamp']],
  'takes what is to come': [() => ({ isStale: (ageMs) => ageMs > 300_000 }), ['future timestamp']],
  'wants the fields that it knows': [
    () => ({ deal: ({ data }) => (data.fieldOfTomorrow ? refusing() : { code: '0' }) }),
    ['unknown field'],
  ],
  'wants the types that it knows': [
    () => ({ deal: ({ eventType }) => (/^(order|payment)\./.test(eventType) ? { code: '0' } : refusing()) }),
    ['unknown event type'],
  ],
  'wants a status of each period': [
    () => ({
      deal: ({ eventType, data }) =>
        eventType.startsWith('payment.') && data.paymentStatus === undefined ? refusing() : { code: '0' },
    }),
    ['notice before a debit'],
  ],
  'takes a GET': [() => ({ takesGet: true }), ['GET']],
};

describe('check-receiver detects a receiver that', () => {
  it.each(Object.entries(FAULTS))('%s', async (_name, [wrong, expected]) => {
    const { status, unmet, verdicts, unjudged } = await check(await serve(receive(wrong())));
    expect(unmet).toEqual(expected);
    expect(unjudged.length).toBe(expected[0] === 'good' ? verdicts.length - 1 : 0);
    const musts = verdicts.filter(({ duty, isMet }) => duty === 'must' && !isMet);
    expect(status).toBe(musts.length === 0 ? 0 : 1);
  });

  it('handles one event at a time', async () => {
    let busy = 0;
    const handle = receive();
    const url = await serve((request, response) => {
      busy += 1;
      response.once('close', () => {
        busy -= 1;
      });
      // Handling takes 50 ms, so that other events arrive before the first is finished.
      if (busy > 1) response.writeHead(503).end();
      else setTimeout(handle, 50, request, response);
    });
    expect(await check(url)).toMatchObject({ status: 1, unmet: ['several at once'] });
  });

  it('does not answer in time', async () => {
    const deal = ({ data }: { data: { channelUserId?: string } }) =>
      data.channelUserId?.includes('🎈') ? ('hang' as const) : { code: '0' };
    const found = await check(await serve(receive({ deal })), [], { pushTimeoutMs: 1_000 });
    expect(found).toMatchObject({ status: 1, unmet: ['not ASCII', 'in time'] });
  });

  it('crashes during the check', async () => {
    const handle = receive();
    let count = 0;
    const server = http.createServer((request, response) => {
      count += 1;
      if (count === 8) server.close();
      handle(request, response);
    });
    const url = `http://127.0.0.1:${await listen(server)}/events`;
    const { status, unmet, unjudged, verdicts } = await check(url);
    expect([status, unmet]).toEqual([1, ['tampered body']]);
    expect(unjudged).toContain('GET');
    expect(verdicts.find(({ isMet }) => isMet === false)?.advice).toContain('the receiver answered before');
  });
});

describe('check-receiver explains once why a valid event is refused', () => {
  const answering = (status: number, headers: http.OutgoingHttpHeaders, body = '') =>
    serve((_request, response) => void response.writeHead(status, headers).end(body));

  it.each<[why: string, url: () => Promise<string>, advice: string]>([
    [
      'nothing listens there',
      async () => `http://127.0.0.1:${await freePort()}/`,
      'is the receiver running, and is the address right?',
    ],
    ['the path is wrong', () => answering(404, {}), 'the path does not exist'],
    ['it refuses POST', () => answering(405, {}), 'it does not accept POST on this path'],
    ['the signature', () => answering(401, {}, '{"code":"no"}'), 'it rejects the signature'],
    ['it fails', () => answering(502, {}), 'it failed, or a proxy in front of it did'],
    ['a redirect', () => answering(308, { Location: '/e' }), 'it redirects, and the service does not follow'],
    ['no JSON', () => answering(200, {}, 'ok'), 'the answer has no JSON code: answer {"code":"0"}'],
    ['a number', () => answering(200, {}, '{"code":0}'), 'answer {"code":"0"}, with "0" as a string'],
    ['another code', () => answering(200, {}, '{"code":"unknown order"}'), 'name a known one with --order'],
    ['it breaks the connection', () => serve(({ socket }) => void socket.destroy()), 'is the receiver running'],
    ['it is slow', () => serve(() => undefined), 'the receiver is too slow'],
    [
      'it accepts one of two types',
      () => serve(receive({ deal: ({ eventType }) => ({ code: eventType.startsWith('payment') ? '0' : 'no' }) })),
      'it accepts the payment event but not the order event',
    ],
  ])('%s', async (_why, url, advice) => {
    const { status, verdicts, unmet, unjudged } = await check(await url(), [], { pushTimeoutMs: 1_000 });
    expect([status, unmet, unjudged.length]).toEqual([1, ['good'], verdicts.length - 1]);
    expect(verdicts[0]?.advice).toContain(advice);
    expect(verdicts.filter((one) => one.advice !== '')).toHaveLength(1);
  });

  it('as text: one advice, and the names of the skipped cases', async () => {
    const { status, out } = await runCommand(['check-receiver', await answering(404, {})], { env });
    expect(status).toBe(1);
    expect(out.split('\n')).toEqual([
      expect.stringMatching(/^FAIL {2}must {4}good: .* got HTTP 404/),
      expect.stringContaining('correct the path'),
      expect.stringMatching(/^not judged, for the same reason: repeated, .*, in time$/),
      expect.stringMatching(/^0 of 23 met; not met: 1 must, 0 should, 22 not judged$/),
    ]);
  });
});

describe('check-receiver with an order that the receiver knows', () => {
  const own = { orderNo: '100000001990', externalOrderNo: 'X-1', channelUserId: 'u1' };
  // biome-ignore lint/suspicious/noExplicitAny: receivers look into events freely
  const knows = ({ eventType, data }: any) => {
    const isOwn = data.orderNo === own.orderNo && (data.externalOrderNo ?? own.externalOrderNo) === own.externalOrderNo;
    const isUser = data.channelUserId === undefined || data.channelUserId === own.channelUserId;
    return { code: isOwn && isUser && eventType ? '0' : 'unknown order' };
  };

  it('uses its numbers, given or fetched from the service', async () => {
    const url = await serve(receive({ deal: knows }));
    expect(await check(url)).toMatchObject({ status: 1, unmet: ['good'] });
    const order = ['--strict', '--effects', 'echo 1', '--order', own.orderNo];
    const given = [...order, '--external-order-no', own.externalOrderNo, '--channel-user-id', own.channelUserId];
    expect(await check(url, given)).toMatchObject({ status: 0, unmet: [] });

    const asked: string[] = [];
    const service = await serve(async (request, response) => {
      asked.push(request.url ?? '');
      const token = { accessToken: 'a'.repeat(40), expiresIn: '7200', expiresAt: '2099-01-01 00:00:00' };
      const record = {
        ...{ eventId: '1-1', lastEventId: null, eventType: 'payment.status.changed', orderNo: own.orderNo },
        ...{ occurredAt: '2026-01-31 08:00:00', deliveryStatus: 'PENDING', pushes: 0, lastPushTime: null },
      };
      const events = [
        { ...record, data: { orderNo: own.orderNo } },
        { ...record, data: own },
      ];
      const data = request.url?.endsWith('token')
        ? token
        : { events, page: 1, size: 100, hasMore: false, nextCursor: null };
      response.end(JSON.stringify({ code: '0', message: 'ok', data, requestId: 'r' }));
    });
    const found = await check(url, [...order, '--base-url', new URL(service).origin]);
    expect(found).toMatchObject({ status: 0, unmet: [] });
    expect(asked.at(-1)).toBe('/openapi/v1/events/list');
  });
});

describe('check-receiver and effects', () => {
  /** Starts a receiver that counts effects, and returns the addresses of both. `once`: it ignores known events. */
  async function counting(once: boolean) {
    const effects = new Map<string, number>();
    const deal = ({ eventId }: { eventId: string }) => {
      if (!once || !effects.has(eventId)) effects.set(eventId, (effects.get(eventId) ?? 0) + 1);
      return { code: '0' };
    };
    const counter = await serve(({ url }, response) => {
      const eventId = new URL(url ?? '', 'http://x').searchParams.get('eventId') ?? '';
      response.end(`${effects.get(eventId) ?? 0}\n`);
    });
    return { url: await serve(receive({ deal })), counter };
  }

  it('a receiver without de-duplication fails, by an address or by a command', async () => {
    const { url, counter } = await counting(false);
    const found = await check(url, ['--effects', counter]);
    expect(found).toMatchObject({ status: 1, unmet: ['repeated'] });
    const ask = `"${process.execPath}" -e "fetch('${counter}?eventId=' + process.env.EVENT_ID).then((r) => r.text()).then(console.log)"`;
    expect(await check(url, ['--effects', ask])).toMatchObject({ status: 1, unmet: ['repeated'] });
  });

  it('a receiver with de-duplication passes under --strict, and is not proven without --effects', async () => {
    const { url, counter } = await counting(true);
    expect(await check(url, ['--effects', counter, '--strict'])).toMatchObject({ status: 0, unmet: [] });
    expect(await check(url)).toMatchObject({ status: 0, unmet: [] });
    const { status, out } = await runCommand(['check-receiver', url, '--strict'], { env });
    expect(status).toBe(1);
    expect(out).toMatch(/^FAIL {2}must {4}repeated: .*\n {6}the answers do not prove/m);
    expect(out).toMatch(/^22 of 23 met, 1 not provable; not met: 0 must, 0 should$/m);
  });

  it('a receiver that records no effect fails', async () => {
    const url = await serve(receive());
    const none = await serve((_request, response) => void response.end('0'));
    const found = await check(url, ['--effects', none], { pushTimeoutMs: 1_000 });
    expect(found).toMatchObject({ status: 1, unmet: ['repeated'] });
  });

  it('--effects that gives no number is a usage error, before an event is sent', async () => {
    let events = 0;
    const url = await serve((_request, response) => {
      events += 1;
      response.end();
    });
    const page = await serve((_request, response) => void response.end('<html>'));
    for (const source of [page, `http://127.0.0.1:${await freePort()}/`, 'exit 3']) {
      const { status, err } = await runCommand(['check-receiver', url, '--effects', source], { env });
      expect([status, err]).toEqual([2, expect.stringMatching(/check-receiver: --effects (must|cannot|failed)/)]);
    }
    expect(events).toBe(0);
  });

  it('a missing age check is a failure under --strict', async () => {
    const url = await serve(receive({ isStale: () => false }));
    const { status, out } = await runCommand(['check-receiver', url, '--strict', '--effects', 'echo 1'], { env });
    expect(status).toBe(1);
    expect(out).toMatch(/^FAIL {2}should {2}stale timestamp: /m);
  });
});

describe('check-receiver passes', () => {
  let file: string;
  beforeAll(async () => {
    file = path.join(process.env['TMPDIR'] ?? '/tmp', `channel-${process.pid}-${randomBytes(4).toString('hex')}.json`);
    await writeFile(file, JSON.stringify(credentials), { mode: 0o600 });
  });

  it('a correct receiver, also during a reset of the secret', async () => {
    const url = await serve(receive());
    const strict = ['--strict', '--effects', 'echo 1'];
    const { status, unmet } = await check(url, strict);
    expect([status, unmet]).toEqual([0, []]);
    const coming = secret();
    const more = ['--new-callback-secret', coming];
    expect(await check(url, more)).toMatchObject({ status: 0, unmet: ['new secret'] });
    expect(await check(url, [...more, ...strict])).toMatchObject({ status: 1 });
    const inEnvironment = { env: { ...env, PERENNIAL_NEW_CALLBACK_SECRET: coming } };
    expect(await check(url, [], inEnvironment)).toMatchObject({ status: 0, unmet: ['new secret'] });
    const unfit = { env: { ...env, PERENNIAL_NEW_CALLBACK_SECRET: 'short' } };
    const { status: refused, err } = await runCommand(['check-receiver', url], unfit);
    expect([refused, err]).toEqual([2, expect.stringContaining('PERENNIAL_NEW_CALLBACK_SECRET must be 32 bytes')]);
    const both = await serve(receive({ secrets: [credentials.callbackSecret, coming] }));
    const known = await check(both, [...more, ...strict]);
    expect(known).toMatchObject({ status: 0, unmet: [] });
  });

  it('the receiver of the SDK', async () => {
    const { callbackSecret, aesKey } = credentials;
    const dealt: string[] = [];
    const handle = createNodeReceiver({
      callbackSecret,
      aesKey,
      path: '/events',
      onEvent: ({ eventId }) => dealt.push(eventId),
      onError: () => undefined,
    });
    const found = await check(await serve((request, response) => void handle(request, response)));
    expect(found).toMatchObject({ status: 0, unmet: [] });
    const repeated = found.verdicts.find(({ name }) => name === 'repeated')?.eventId;
    expect(dealt.filter((eventId) => eventId === repeated)).toHaveLength(1);
    expect(dealt.every((eventId) => eventId.startsWith('test-'))).toBe(true);
    expect(new Set(dealt).size).toBe(dealt.length);
  });

  it('examples/receiver.mjs, with one line per case', async () => {
    const port = await freePort();
    const receiver = start(path.join(ROOT, 'examples', 'receiver.mjs'), {}, [file, String(port)]);
    await until('a receiver that listens', () => receiver.stdout().includes('listening'));
    // The receiver survives a client that disconnects during an event, and a client whose body is too large.
    net.connect(port, '127.0.0.1').end('POST /events HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{');
    await until('a receiver that has seen it go', () => receiver.stdout().includes('failed: aborted'));
    const large = await fetch(`http://127.0.0.1:${port}/events`, { method: 'POST', body: 'x'.repeat(1_000_001) });
    expect([large.status, await large.text()]).toEqual([413, '{"code":"too-large"}']);
    const { status, out } = await runCommand(['check-receiver', `http://127.0.0.1:${port}/events`], { env });
    receiver.child.kill();
    await receiver.exited;
    expect(out.match(/^(FAIL|warn) .*: /gm)).toEqual([expect.stringMatching(/^warn {2}must {4}repeated: /)]);
    expect(status).toBe(0);
    expect(out).toMatch(/^ok {4}must {4}tampered body: .*; expected refused, got HTTP 401 {2}\d+ ms$/m);
    expect(out).toMatch(/^22 of 23 met, 1 not provable; not met: 0 must, 0 should$/m);
    const [, repeated = ''] = /the answers do not prove .*: (test-\w+-\d+) was sent four times/.exec(out) ?? [];
    expect(receiver.stdout().split(`event     ${repeated} `)).toHaveLength(2);
    expect(receiver.stdout().split(`again     ${repeated},`)).toHaveLength(4);
    const told = receiver.stdout();
    for (const fault of ['it has no signature', 'the signature is not right', 'it was sent too long ago'])
      expect(told).toContain(`refused: ${fault}\n`);
    expect(told.match(/^refused: its timestamp is in the future$/gm)).toHaveLength(1);
    expect(told).toMatch(/ payment\.upcoming {2}order 9{15} {2}period 3 is due \d{4}-/m);
    expect(told).toMatch(/ refund\.status\.changed {2}a type that is not known here$/m);
    expect(told).not.toContain('undefined');
    for (const one of [credentials.callbackSecret, credentials.aesKey]) expect(out).not.toContain(one);
  });
});
