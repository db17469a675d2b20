import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  DEFAULT_CURRENCY,
  KEY_BYTES,
  MAX_STATEMENT_BYTES,
  OPERATIONS,
  type Operation,
  parseCurrency,
} from '@perennial/wire/bridge';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { Book } from './book/book.js';
import { openBookDatabase } from './book/database.js';
import { type Clock, systemClock } from './clock.js';
import { Agreements } from './flow/agreements.js';
import { createCalls } from './flow/calls.js';
import { Debits } from './flow/debits.js';
import type { At, Tools } from './flow/numbered-calls.js';
import { createOperations, type Flows } from './flow/operations.js';
import { Refunds } from './flow/refunds.js';
import { createWebhooks } from './flow/webhooks.js';
import type { Institution, RefLookUp } from './institution.js';
import { type BridgeLog, createBridgeLog } from './log.js';
import { type BridgeMetrics, createMetrics } from './metrics.js';
import { createMonitoringServer } from './monitoring.js';
import { Refusal } from './server/refusals.js';
import {
  createSignedServer,
  listen,
  type Reply,
  renewCertificates,
  type ServerCertificates,
  type SignedRequest,
} from './server/signed-server.js';
import { type Loop, startLoop } from './work/loop.js';
import { createNoticeSender, type NoticeSender } from './work/notice-sender.js';
import { createUpkeep } from './work/upkeep.js';

export interface BridgeOptions {
  readonly institution: Institution;
  /** The key shared with the service, 32 bytes. */
  readonly key: Uint8Array;
  /** The PostgreSQL URL of the book. */
  readonly databaseUrl: string;
  /** The book's schema, created if missing. Default: bridge. */
  readonly schema?: string;
  /** The number of database connections, default 10. */
  readonly pool?: number;
  /**
   * `{serviceUrl}/gateway/v1/notices/{paymentChannelCode}`. If undefined, notices wait in the book until the bridge is
   * started with a URL.
   */
  readonly serviceNoticeUrl?: string | undefined;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** The port of the server. 0 selects any free port. */
  readonly port: number;
  /** The path before the operation, such as `/bank` in `/bank/debit`. */
  readonly basePath?: string;
  /** The port of /health and /metrics on the same host. 0 selects any free port. */
  readonly monitoringPort: number;
  /** Called at the start and once a minute, so that renewed files are used. If undefined, the bridge speaks plain HTTP. */
  readonly readCertificates?: (() => Promise<ServerCertificates>) | undefined;
  /**
   * How long the book keeps settled numbers, default 400 days. The bridge refuses a debit that began longer ago,
   * because the book may have forgotten its number.
   */
  readonly keepDays?: number;
  readonly clock?: Clock;
  readonly log?: Logger;
  /** The timeout for all calls to the institution in one debit, default 6.5 s. Other requests have 2 s more. */
  readonly callMs?: number;
  /** How long the workers wait between two runs when there is nothing to do, default 1 s. */
  readonly idleMs?: number;
  /** How long a stop waits for requests in progress, default 12 s: longer than any request may take. */
  readonly drainMs?: number;
  /** Called at each crash point. Tests use it to simulate a crash at that point. */
  readonly at?: At;
}

/** A running bridge. */
export interface Bridge {
  readonly url: string;
  readonly monitoringUrl: string;
  /**
   * Stops accepting requests and waits for requests in flight. Throws after a timeout. The process can exit even then
   * without losing data.
   */
  stop(): Promise<void>;
}

const CALL_MS = 6_500;
/**
 * How long a process leases a debit or refund number: much longer than any call. After the lease ends, another process
 * can take the number over.
 */
const IN_HAND_MS = 20_000;
const ASKED_AT_ONCE = 8;
const KEEP_DAYS = 400;
const DRAIN_MS = 12_000;
/**
 * The timeout for the part of a stop after drainMs. The default drainMs and this timeout add up to 25 s: Kubernetes
 * kills the process after 30 s.
 */
const STOP_MS = 13_000;
const DAY_MS = 86_400_000;
/** Certificates are read again once a minute. */
const RENEWAL_PAUSES = 60;

export async function startBridge(options: BridgeOptions): Promise<Bridge> {
  const { institution, key, clock = systemClock, idleMs = 1_000, drainMs = DRAIN_MS, host = '127.0.0.1' } = options;
  if (key.length !== KEY_BYTES) throw new Error(`the key must have ${KEY_BYTES} bytes`);
  const currency = parseCurrency(institution.currency ?? DEFAULT_CURRENCY);
  const log = createBridgeLog(options.log);
  const certificates = await options.readCertificates?.();
  const { schema = 'bridge', pool = 10, databaseUrl: url } = options;
  const onLost = (err: Error) => log.warn({ err }, 'a connection to the database was lost');
  const database = await openBookDatabase({ url, schema, institution: institution.name, pool, onLost });
  const book = new Book({ database, holder: randomUUID(), inHandMs: IN_HAND_MS });
  const metrics = createMetrics(book, clock);
  const calls = createCalls({ callMs: options.callMs ?? CALL_MS, metrics, log });
  const at = options.at ?? (() => undefined);
  const repeatableForMs = toEach(institution.repeatableForMs);
  const keepMs = (options.keepDays ?? KEEP_DAYS) * DAY_MS;
  const refs: RefLookUp = {
    attemptNosOf: (institutionRefs) => book.debits.findByRefs(institutionRefs),
    refundNosOf: (institutionRefs) => book.refunds.findByRefs(institutionRefs),
  };
  const tools: Tools = { clock, log, metrics, calls, at, refs, repeatableForMs, keepMs };

  const loops: Loop[] = [];
  let isStopping = false;
  let noticeLoop: Loop | undefined;
  const flows = createFlows(book, institution, tools, () => noticeLoop?.wake());
  const server = createServer({ ...options, certificates }, flows, currency, tools);
  const monitoring = createMonitoringServer({ book, clock, metrics, log, isStopping: () => isStopping });
  let sender: NoticeSender | undefined;

  const close = async (): Promise<void> => {
    isStopping = true;
    await server.close();
    await Promise.all(loops.map((loop) => loop.stop()));
    await Promise.all([flows.debits.idle(), flows.refunds.idle()]);
    await sender?.stop();
    await monitoring.close();
    await database.close();
  };
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= within(close(), drainMs + STOP_MS);
    return stopped;
  };
  try {
    if (options.serviceNoticeUrl !== undefined) {
      const { notices } = book;
      sender = createNoticeSender({ url: options.serviceNoticeUrl, key, currency, notices, clock, metrics, log, at });
    }
    const bridge = {
      url: `${await listen(server, host, options.port)}${options.basePath ?? ''}`,
      monitoringUrl: await listen(monitoring, host, options.monitoringPort),
      stop,
    };
    const { debits, refunds } = flows;
    loops.push(startLoop('ask for debits', idleMs, () => debits.askForDue(ASKED_AT_ONCE), log));
    loops.push(startLoop('ask for refunds', idleMs, () => refunds.askForDue(ASKED_AT_ONCE), log));
    loops.push(startLoop('upkeep', idleMs, createUpkeep({ book, clock, log, keepMs }), log));
    if (options.readCertificates && certificates) {
      const renew = createRenewal(server, certificates, options.readCertificates, log);
      loops.push(startLoop('renew certificates', RENEWAL_PAUSES * idleMs, renew, log));
    }
    if (sender) noticeLoop = startLoop('send notices', idleMs, sender.sendDue, log);
    if (noticeLoop) loops.push(noticeLoop);
    log.info({ institution: institution.name, url: bridge.url }, 'the bridge is listening');
    return bridge;
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Throws if the work takes longer than the limit. An exit then loses nothing: the book is complete, as after a crash.
 */
async function within(work: Promise<void>, limitMs: number): Promise<void> {
  const limit = delay(limitMs, undefined, { ref: false }).then(() => {
    throw new Error(`the bridge did not stop within ${limitMs} ms`);
  });
  await Promise.race([work, limit]);
}

function toEach(repeatableForMs: Institution['repeatableForMs']): Tools['repeatableForMs'] {
  if (typeof repeatableForMs === 'number') return { debit: repeatableForMs, refund: repeatableForMs };
  return { debit: repeatableForMs.debits, refund: repeatableForMs.refunds };
}

function createFlows(book: Book, institution: Institution, tools: Tools, owed: () => void): Flows {
  const debits = new Debits(book, institution, tools, owed);
  const refunds = new Refunds(book, institution, debits, tools);
  return { debits, refunds, agreements: new Agreements(book, institution, tools, owed) };
}

interface ServerOptions extends BridgeOptions {
  readonly certificates: ServerCertificates | undefined;
}

function createServer(options: ServerOptions, flows: Flows, currency: string, tools: Tools): FastifyInstance {
  const { institution, key, basePath = '', certificates } = options;
  const { clock, log, metrics } = tools;
  const server = createSignedServer({
    key,
    clock,
    operations: OPERATIONS,
    basePath,
    bodyLimit: MAX_STATEMENT_BYTES,
    drainMs: options.drainMs ?? DRAIN_MS,
    certificates,
    handle: counted(createOperations(flows, institution, currency, tools), metrics, log),
    onFault: (err, operation, requestId) =>
      log.error({ err, ...(operation && { operation }), ...(requestId && { requestId }) }, 'fault'),
  });
  const readWebhook = createWebhooks(flows, institution, tools);
  server.post(`${basePath}/webhooks`, async ({ headers, body }, reply) => {
    const answer = await readWebhook({ headers, body: Buffer.isBuffer(body) ? body : Buffer.alloc(0) });
    if (answer === undefined) return reply.code(401).type('text/plain').send('the signature does not hold\n');
    return reply.code(answer.status).type(answer.contentType).send(answer.body);
  });
  return server;
}

function createRenewal(
  server: FastifyInstance,
  first: ServerCertificates,
  read: () => Promise<ServerCertificates>,
  log: BridgeLog,
): () => Promise<false> {
  let used = JSON.stringify(first);
  return async () => {
    try {
      const certificates = await read();
      const text = JSON.stringify(certificates);
      if (text === used) return false;
      renewCertificates(server, certificates);
      used = text;
      log.info({}, 'renewed certificates are used');
    } catch (err) {
      log.error({ err }, 'renewed certificates cannot be used; the old ones stay');
    }
    return false;
  };
}

/** Logs and counts each request that has a valid signature and a JSON object. */
function counted(
  run: (request: SignedRequest<Operation>) => Promise<object>,
  metrics: BridgeMetrics,
  log: BridgeLog,
): (request: SignedRequest<Operation>) => Promise<Reply> {
  return async (request) => {
    const { operation, requestId } = request;
    const began = performance.now();
    const say = (status: number | string) => {
      metrics.countRequest(operation, String(status));
      log.info({ operation, requestId, status, ms: Math.round(performance.now() - began) }, 'request');
    };
    try {
      const answer = await run(request);
      say('status' in answer ? String(answer.status) : 'ok');
      return { status: 200, text: JSON.stringify(answer) };
    } catch (error) {
      say(error instanceof Refusal ? error.status : 500);
      throw error;
    }
  };
}
