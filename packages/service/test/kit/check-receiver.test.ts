import { createHash, randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { HEADER_KEYS, signWebhook, verifySignature } from '@perennial/wire';
import { createNodeReceiver } from 'perennial-channel';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT, readPage, tableRows } from '../docs/pages.js';
import { freePort } from '../support/free-port.js';
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

const servers: http.Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

async function serve(handle: http.RequestListener): Promise<string> {
  const server = http.createServer(handle);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`;
}

interface Verdict {
  readonly name: string;
  readonly duty: string;
  readonly expected: string;
  readonly isMet: boolean;
}

async function check(url: string, more: readonly string[] = [], options: CommandOptions = {}) {
  const { status, json } = await runCommand(['check-receiver', url, '--json', ...more], { env, ...options });
  const verdicts: readonly Verdict[] = json.verdicts;
  return { status, verdicts, unmet: verdicts.filter(({ isMet }) => !isMet).map(({ name }) => name) };
}

/** A receiver of the sort that people write by hand, with one part of it wrong. */
interface Wrong {
  /** What is signed instead of the bytes that came. */
  readonly signed?: (body: Buffer) => Buffer | string;
  readonly isSigned?: (isSigned: boolean, request: http.IncomingMessage) => boolean;
  readonly path?: (path: string) => string;
  readonly eventId?: (header: string, body: string) => string;
  readonly secrets?: readonly string[];
  readonly takesOld?: boolean;
  readonly takesGet?: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: receivers look into events freely
  readonly deal?: (event: any) => object | 'hang';
}

function receive(wrong: Wrong = {}): http.RequestListener {
  return async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
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
      verifySignature(header('signature'), signWebhook(parts, Buffer.from(one, 'base64'))),
    );
    if (!(wrong.isSigned?.(isRight, request) ?? isRight)) return answer(401, { code: 'signature' });
    if (!wrong.takesOld && Math.abs(Date.now() - Number(header('timestamp'))) > 300_000)
      return answer(401, { code: 'old' });
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
  'unknown secret',
  'another path',
  'another event id',
];

const ACCEPTED = [
  ...['good', 'repeated', 'reordered', 'not ASCII', 'other spacing and order', 'large', 'several at once'],
  ...['unknown field', 'unknown event type'],
];

/** Each fault by its name, with the cases that find it. */
const FAULTS: Readonly<Record<string, readonly [wrong: () => Wrong, unmet: readonly string[]]>> = {
  'checks no signature': [() => ({ isSigned: () => true }), unsigned],
  'checks a signature only if there is one': [
    () => ({ isSigned: (isSigned, { headers }) => isSigned || headers[HEADER_KEYS.signature] === undefined }),
    ['missing signature'],
  ],
  'signs what it has parsed and written again': [
    () => ({ signed: (body) => JSON.stringify(JSON.parse(body.toString())) }),
    ['other spacing and order'],
  ],
  'takes the body for Latin-1': [
    () => ({ signed: (body) => Buffer.from(body.toString('latin1')) }),
    ['not ASCII', 'large'],
  ],
  'signs without its path': [() => ({ path: () => '' }), ACCEPTED],
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
  'answers the number 0': [() => ({ deal: () => ({ code: 0 }) }), ACCEPTED],
  'has too little room': [
    () => ({ deal: ({ data }) => (data.externalOrderNo?.length > 64 ? refusing() : { code: '0' }) }),
    ['large'],
  ],
  'takes what is old': [() => ({ takesOld: true }), ['stale timestamp']],
  'wants the fields that it knows': [
    () => ({ deal: ({ data }) => (data.fieldOfTomorrow ? refusing() : { code: '0' }) }),
    ['unknown field'],
  ],
  'wants the types that it knows': [
    () => ({ deal: ({ eventType }) => (/^(order|payment)\./.test(eventType) ? { code: '0' } : refusing()) }),
    ['unknown event type'],
  ],
  'takes a GET': [() => ({ takesGet: true }), ['GET']],
};

describe('check-receiver finds the fault of a receiver that', () => {
  it.each(Object.entries(FAULTS))('%s', async (_name, [wrong, expected]) => {
    const { status, unmet, verdicts } = await check(await serve(receive(wrong())));
    expect(unmet).toEqual(expected);
    const musts = verdicts.filter(({ duty, isMet }) => duty === 'must' && !isMet);
    expect(status).toBe(musts.length === 0 ? 0 : 1);
  });

  it('does one thing at a time', async () => {
    let busy = 0;
    const handle = receive();
    const url = await serve((request, response) => {
      busy += 1;
      response.once('close', () => {
        busy -= 1;
      });
      // Its work on one event takes longer than the others take to come.
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

  it('breaks the connection, or is not there', async () => {
    const broken = await check(await serve((request) => request.socket.destroy()));
    expect(broken.status).toBe(1);
    expect(broken.unmet).toContain('tampered body');
    const port = await freePort();
    const { status, err } = await runCommand(['check-receiver', `http://127.0.0.1:${port}/`], { env });
    expect([status, err]).toEqual([1, expect.stringContaining('cannot be reached')]);
  });
});

describe('check-receiver passes', () => {
  let file: string;
  beforeAll(async () => {
    file = path.join(process.env['TMPDIR'] ?? '/tmp', `channel-${process.pid}-${randomBytes(4).toString('hex')}.json`);
    await writeFile(file, JSON.stringify(credentials), { mode: 0o600 });
  });

  it('a receiver that does all of it, also while the secret is reset', async () => {
    const url = await serve(receive());
    const { status, unmet, verdicts } = await check(url, ['--strict']);
    expect([status, unmet]).toEqual([0, []]);
    const coming = secret();
    const more = ['--new-callback-secret', coming];
    expect(await check(url, more)).toMatchObject({ status: 0, unmet: ['new secret'] });
    expect(await check(url, [...more, '--strict'])).toMatchObject({ status: 1 });
    const both = await serve(receive({ secrets: [credentials.callbackSecret, coming] }));
    const known = await check(both, [...more, '--strict']);
    expect(known).toMatchObject({ status: 0, unmet: [] });
    const rows = tableRows(await readPage('docs/channel-cli.md'));
    for (const { name, duty, expected } of [...verdicts, ...known.verdicts]) {
      expect(rows).toContainEqual([name, duty, expected]);
    }
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
    expect(await check(await serve((request, response) => void handle(request, response)), ['--strict'])).toMatchObject(
      {
        status: 0,
        unmet: [],
      },
    );
    expect(dealt.every((eventId) => eventId.startsWith('test-'))).toBe(true);
    expect(new Set(dealt).size).toBe(dealt.length);
  });

  it('examples/receiver.mjs, and says so line by line', async () => {
    const port = await freePort();
    const receiver = start(path.join(ROOT, 'examples', 'receiver.mjs'), {}, [file, String(port)]);
    await until('a receiver that listens', () => receiver.stdout().includes('listening'));
    const { status, out } = await runCommand(['check-receiver', `http://127.0.0.1:${port}/events`, '--strict'], {
      env,
    });
    receiver.child.kill();
    await receiver.exited;
    expect(out).not.toMatch(/^(FAIL|warn)/m);
    expect(status).toBe(0);
    expect(out).toMatch(/^ok {4}must {4}tampered body: .*; expected refused, got HTTP 401 {2}\d+ ms$/m);
    expect(out).toMatch(/^18 of 18 met, 0 must and 0 should are not$/m);
    for (const one of [credentials.callbackSecret, credentials.aesKey]) expect(out).not.toContain(one);
  });
});
