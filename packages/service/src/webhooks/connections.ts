import net from 'node:net';
import tls from 'node:tls';
import { type AddressRules, connectAddress, ForbiddenAddress, type Resolve } from './address.js';
import { type Answer, BadAnswer, isAccepted, readAnswer } from './answer.js';
import type { DeliveryOutcome } from './finish-sql.js';
import type { SignedPush } from './message.js';
import { DEADLINE_MS } from './schedule.js';

export interface PushResult {
  readonly outcome: DeliveryOutcome;
  readonly httpStatus: number | null;
  /** The first of what came back, or in a few words why nothing did. */
  readonly answer: string;
}

export interface Connections {
  push(url: string, push: SignedPush): Promise<PushResult>;
  close(): void;
}

export interface ConnectionOptions extends AddressRules {
  readonly deadlineMs?: number;
  readonly resolve?: Resolve;
  /** Certificates to trust besides those of the system: for tests. */
  readonly ca?: string;
}

/** Kept open for the next push: not for long, so that a name that moves is followed. */
const IDLE_MS = 4_000;
const OLDEST_MS = 60_000;
const MOST_IDLE = 64;
const SHOWN = 200;

interface Open {
  readonly socket: net.Socket;
  readonly since: number;
  idle: NodeJS.Timeout | undefined;
}

/** Pushes over kept connections, one at a time on each. Everything about one push happens within its deadline. */
export function connections(options: ConnectionOptions): Connections {
  const { deadlineMs = DEADLINE_MS } = options;
  const kept = new Map<string, Open[]>();

  function reuse(origin: string): Open | undefined {
    const all = kept.get(origin);
    for (let open = all?.pop(); open; open = all?.pop()) {
      clearTimeout(open.idle);
      if (!open.socket.destroyed && performance.now() - open.since < OLDEST_MS) return open;
      open.socket.destroy();
    }
    return undefined;
  }

  function keep(origin: string, open: Open): void {
    const all = kept.get(origin) ?? [];
    kept.set(origin, all);
    if (all.length >= MOST_IDLE || performance.now() - open.since > OLDEST_MS) {
      open.socket.destroy();
      return;
    }
    const { socket } = open;
    const drop = () => {
      socket.destroy();
      const index = all.indexOf(open);
      if (index >= 0) all.splice(index, 1);
    };
    // Nobody has asked for anything: whatever comes now, it is over.
    socket.removeAllListeners();
    socket.on('error', drop).on('close', drop).on('data', drop).on('end', drop);
    open.idle = setTimeout(drop, IDLE_MS);
    all.push(open);
  }

  async function connect(url: URL, over: AbortSignal): Promise<Open> {
    const address = await connectAddress(url, options, options.resolve);
    over.throwIfAborted();
    const secure = url.protocol === 'https:';
    const port = Number(url.port) || (secure ? 443 : 80);
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const socket = secure
      ? tls.connect({
          host: address,
          port,
          ALPNProtocols: ['http/1.1'],
          checkServerIdentity: (_, certificate) => tls.checkServerIdentity(host, certificate),
          ...(net.isIP(host) === 0 ? { servername: host } : {}),
          ...(options.ca === undefined ? {} : { ca: [...tls.rootCertificates, options.ca] }),
        })
      : net.connect({ host: address, port });
    socket.setNoDelay(true);
    await new Promise<void>((resolve, reject) => {
      over.addEventListener('abort', () => socket.destroy(new Error('late')), { once: true });
      socket.once(secure ? 'secureConnect' : 'connect', resolve).once('error', reject);
    });
    return { socket, since: performance.now(), idle: undefined };
  }

  async function push(target: string, signed: SignedPush): Promise<PushResult> {
    const url = new URL(target);
    const over = new AbortController();
    const timer = setTimeout(() => over.abort(), deadlineMs);
    try {
      const request = requestBytes(url, signed);
      const old = reuse(url.origin);
      // A kept connection may have been closed at the other end by now: then once more, on a new one.
      const answer =
        (old && (await exchange(old, request, over.signal, true))) ??
        (await exchange(await connect(url, over.signal), request, over.signal, false));
      if (!answer) return { outcome: 'UNREACHABLE', httpStatus: null, answer: 'the connection was closed' };
      if (answer.keepAlive) keep(url.origin, answer.open);
      else answer.open.socket.destroy();
      return {
        outcome: isAccepted(answer) ? 'ACCEPTED' : 'REFUSED',
        httpStatus: answer.status,
        answer: printable(answer.body.slice(0, SHOWN)),
      };
    } catch (error) {
      if (over.signal.aborted)
        return { outcome: 'TIMEOUT', httpStatus: null, answer: `no answer within ${deadlineMs} ms` };
      return failure(error);
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    push,
    close() {
      for (const all of kept.values()) {
        for (const { socket, idle } of all) {
          clearTimeout(idle);
          socket.destroy();
        }
      }
      kept.clear();
    },
  };
}

function requestBytes(url: URL, { headers, body }: SignedPush): Buffer {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.concat([
    Buffer.from(
      `POST ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\nUser-Agent: Perennial\r\nContent-Length: ${body.length}\r\n${lines}\r\n`,
      'latin1',
    ),
    body,
  ]);
}

type Exchanged = Answer & { readonly open: Open };

/** Undefined: the connection was closed before a byte came back, which on a kept one says nothing. */
function exchange(open: Open, request: Buffer, over: AbortSignal, wasKept: boolean): Promise<Exchanged | undefined> {
  const { socket } = open;
  return new Promise((resolve, reject) => {
    let bytes: Buffer | undefined;
    const done = (settle: () => void) => {
      over.removeEventListener('abort', late);
      socket.removeAllListeners();
      // A socket without a listener for errors ends the process.
      socket.on('error', () => undefined);
      settle();
    };
    const fail = (error: Error) => {
      socket.destroy();
      done(() => (wasKept && bytes === undefined && !over.aborted ? resolve(undefined) : reject(error)));
    };
    const late = () => fail(new Error('late'));
    const look = (ended: boolean) => {
      try {
        const answer = bytes === undefined ? undefined : readAnswer(bytes, ended);
        if (answer) done(() => resolve({ ...answer, open }));
        else if (ended) fail(new Error('the connection was closed'));
      } catch (error) {
        fail(error instanceof Error ? error : new Error(String(error)));
      }
    };
    over.addEventListener('abort', late, { once: true });
    socket.removeAllListeners();
    socket
      .on('data', (chunk: Buffer) => {
        bytes = bytes === undefined ? chunk : Buffer.concat([bytes, chunk]);
        look(false);
      })
      .on('error', fail)
      .on('end', () => look(true))
      .on('close', () => look(true));
    socket.write(request);
  });
}

function failure(error: unknown): PushResult {
  if (error instanceof ForbiddenAddress) return { outcome: 'FORBIDDEN', httpStatus: null, answer: error.message };
  if (error instanceof BadAnswer) return { outcome: 'REFUSED', httpStatus: null, answer: error.message };
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
  const message = error instanceof Error ? error.message : '';
  return { outcome: 'UNREACHABLE', httpStatus: null, answer: printable((code || message).slice(0, SHOWN)) };
}

/** Kept in a table and shown to people: no control characters, and nothing that PostgreSQL refuses. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cs}]/gu, ' ');
}
