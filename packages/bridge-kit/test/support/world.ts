import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import {
  BRIDGE_HEADERS,
  CONTENT_TYPE,
  checkSignature,
  type Fields,
  isSignedResponse,
  readFields,
  signedHeaders,
} from '@perennial/wire/bridge';
import pg from 'pg';
import { pino } from 'pino';
import { inject, onTestFinished } from 'vitest';
import { type Bridge, type BridgeOptions, startBridge } from '../../src/index.js';
import { FakeInstitution } from './fake-institution.js';

export const KEY = Buffer.alloc(32, 7);

export interface Answered {
  readonly http: number;
  readonly fields: Fields;
}

/** Sends a signed request as the service, and verifies the answer's signature. */
export async function ask(
  url: string,
  operation: string,
  body: object,
  {
    now = Date.now(),
    key,
    signal,
  }: { readonly now?: number; readonly key?: string; readonly signal?: AbortSignal } = {},
): Promise<Answered> {
  const { pathname, origin } = new URL(`${url}/${operation}`);
  const bytes = Buffer.from(JSON.stringify(body));
  const signed = signedHeaders({ path: pathname, body: bytes, now, requestId: randomUUID() }, KEY);
  const number = key ?? ('refundNo' in body ? body.refundNo : 'attemptNo' in body ? body.attemptNo : '');
  const response = await fetch(origin + pathname, {
    method: 'POST',
    headers: { 'content-type': CONTENT_TYPE, [BRIDGE_HEADERS.idempotencyKey]: String(number), ...signed },
    body: bytes,
    ...(signal && { signal }),
  });
  const answer = Buffer.from(await response.arrayBuffer());
  const nonce = signed[BRIDGE_HEADERS.nonce] ?? '';
  const signature = response.headers.get(BRIDGE_HEADERS.signature) ?? undefined;
  if (!isSignedResponse(signature, pathname, nonce, answer, KEY)) throw new Error('the answer is not signed');
  return { http: response.status, fields: readFields(answer) ?? {} };
}

export function debitOf(attemptNo: string, more: object = {}) {
  return {
    appId: 'test',
    attemptNo,
    institutionNo: 'GOOD',
    amountCent: 1990,
    orderNo: '1001',
    cycleNo: 1,
    externalOrderNo: 'order-1',
    startedAt: Date.now(),
    ...more,
  };
}

export function questionOf(attemptNo: string) {
  const { institutionNo: _, ...question } = debitOf(attemptNo);
  return question;
}

/** A fake of the service's notice endpoint. It first answers with the statuses in `answers`. */
export class NoticeTaker {
  readonly taken: Fields[] = [];
  readonly statuses: number[] = [];
  readonly nonces = new Set<string>();
  /** The next answers' statuses. */
  answers: number[] = [];
  retryAfter: string | undefined;
  /** If set, notices are answered only after this promise resolves. */
  hold: Promise<void> | undefined;
  /** The subject of every notice received. */
  readonly came: unknown[] = [];
  url = '';
  readonly #clock: TestClock;
  readonly #server = http.createServer((request, response) => void this.#take(request, response));

  constructor(clock: TestClock) {
    this.#clock = clock;
  }

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/gateway/v1/notices/FAKE`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #take(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const body = Buffer.concat(await request.toArray());
    const { headers, url: path = '' } = request;
    this.came.push(readFields(body)?.['attemptNo']);
    await this.hold;
    const checked = checkSignature({ path, query: '', headers, body, now: this.#clock.now() }, KEY);
    const status = checked.trusted ? (this.answers.shift() ?? 200) : 401;
    this.nonces.add(String(headers[BRIDGE_HEADERS.nonce]));
    this.statuses.push(status);
    if (status === 200) this.taken.push(readFields(body) ?? {});
    response.writeHead(status, this.retryAfter ? { 'retry-after': this.retryAfter } : {}).end();
  }
}

/** A clock that a test can move forward. */
export class TestClock {
  ahead = 0;
  now(): number {
    return Date.now() + this.ahead;
  }
}

export interface World {
  readonly institution: FakeInstitution;
  readonly taker: NoticeTaker;
  readonly clock: TestClock;
  readonly bridge: Bridge;
  readonly log: () => string;
  readonly query: (text: string) => Promise<readonly Fields[]>;
  readonly schema: string;
  /** Sends a request as the service, to the first bridge by default. */
  ask(operation: string, body: object, of?: Bridge, key?: string): Promise<Answered>;
  /** Starts another process of the same bridge. */
  start(more?: Partial<BridgeOptions>): Promise<Bridge>;
  /** Sends a webhook to the bridge, as the institution would. Returns the HTTP status. */
  tell(told: readonly object[], signature?: string, to?: Bridge): Promise<number>;
}

export async function startWorld(more: Partial<BridgeOptions> = {}): Promise<World> {
  const databaseUrl = more.databaseUrl ?? inject('bookUrl');
  const schema = `book_${randomBytes(6).toString('hex')}`;
  const institution = new FakeInstitution();
  const clock = new TestClock();
  const taker = new NoticeTaker(clock);
  await taker.start();
  let lines = '';
  const log = pino(
    { level: 'info' },
    {
      write(line: string) {
        lines += line;
      },
    },
  );
  const running: Bridge[] = [];
  const start = async (others: Partial<BridgeOptions> = {}) => {
    const bridge = await startBridge({
      institution,
      key: KEY,
      databaseUrl,
      schema,
      pool: 4,
      serviceNoticeUrl: taker.url,
      port: 0,
      monitoringPort: 0,
      clock,
      log,
      idleMs: 20,
      ...more,
      ...others,
    });
    running.push(bridge);
    return bridge;
  };
  const database = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  database.on('error', () => undefined);
  onTestFinished(async () => {
    for (const one of running) await one.stop();
    await taker.stop();
    await database.query(`drop schema ${schema} cascade`);
    await database.end();
  });
  const bridge = await start();
  return {
    institution,
    taker,
    clock,
    bridge,
    schema,
    start,
    ask: (operation, body, of = bridge, key) =>
      ask(of.url, operation, body, { now: clock.now(), ...(key !== undefined && { key }) }),
    log: () => lines,
    query: async (text) => (await database.query(text)).rows,
    async tell(told, signature = 'good', to = bridge) {
      const headers = { 'x-fake-signature': signature, 'content-type': 'application/json' };
      const response = await fetch(`${to.url}/webhooks`, { method: 'POST', headers, body: JSON.stringify(told) });
      return response.status;
    },
  };
}

/** Returns a promise and a function that resolves it. */
export function gate(): { readonly until: Promise<void>; open(): void } {
  let open: () => void = () => undefined;
  const until = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { until, open };
}

/** Polls until the probe returns true. Throws after the limit. */
export async function until(what: string, probe: () => Promise<unknown> | unknown, limitMs = 120_000): Promise<void> {
  const limit = AbortSignal.timeout(limitMs);
  for (let pause = 5; ; pause = Math.min(pause * 1.5, 100)) {
    if (await probe()) return;
    if (limit.aborted) throw new Error(`never happened: ${what}`);
    await delay(pause);
  }
}

/** Returns true if nothing listens at the URL. */
export async function isRefused(url: string): Promise<boolean> {
  const { port, hostname } = new URL(url);
  const socket = net.connect(Number(port), hostname);
  const refused = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(false)).once('error', () => resolve(true));
  });
  socket.destroy();
  return refused;
}
