import tls from 'node:tls';
import { type AddressRules, connectAddresses, dnsResolve, ForbiddenAddress, hostOf, type Resolve } from './address.js';
import { type Answer, isAccepted } from './answer.js';
import { type Connection, openConnection, Unanswered } from './connection.js';
import type { DeliveryOutcome } from './finish-sql.js';
import { idleConnections } from './idle-connections.js';
import { BadAnswer } from './incoming.js';
import type { SignedPush } from './message.js';
import { Late, type PushDeadline, pushDeadline } from './push-deadline.js';
import { DEADLINE_MS } from './schedule.js';

export interface PushResult {
  readonly outcome: DeliveryOutcome;
  readonly httpStatus: number | null;
  /** The first of what came back, or in a few words why nothing did. */
  readonly answer: string;
}

export interface Connections {
  /** Always says what became of it: it never fails. */
  push(url: string, push: SignedPush): Promise<PushResult>;
  /** No connection is kept any longer; one that is in use is closed after its push. */
  close(): void;
}

export interface ConnectionOptions extends AddressRules {
  readonly deadlineMs?: number;
  readonly resolve?: Resolve;
  /** Certificates to trust besides those that Node trusts: for tests. */
  readonly ca?: string;
}

/** Of an answer, so many characters are written down. */
const SHOWN = 200;

/** Pushes over kept connections, one at a time on each. Everything about one push happens within its deadline. */
export function connections(options: ConnectionOptions): Connections {
  const { deadlineMs = DEADLINE_MS, resolve = dnsResolve(), ca } = options;
  const context = tls.createSecureContext(ca === undefined ? {} : { ca: [...tls.rootCertificates, ca] });
  const idle = idleConnections();

  async function connect(url: URL, deadline: PushDeadline): Promise<Connection> {
    const addresses = await deadline.run<readonly string[]>((found, failed) => {
      connectAddresses(url, options, resolve).then(found, failed);
      return () => undefined;
    });
    const security = url.protocol === 'https:' ? { context, host: hostOf(url) } : undefined;
    const port = Number(url.port || (security ? 443 : 80));
    let first: unknown;
    for (const address of addresses) {
      try {
        return await openConnection({ address, port, ...(security ? { security } : {}) }, deadline);
      } catch (error) {
        if (error instanceof Late) throw error;
        first ??= error;
      }
    }
    throw first;
  }

  async function exchange(url: URL, request: Buffer, deadline: PushDeadline): Promise<Answer> {
    const kept = idle.take(url.origin);
    if (kept) {
      try {
        return await exchangeOn(kept, url, request, deadline);
      } catch (error) {
        // It may have been closed at the other end just then: once more, on a new one.
        if (!(error instanceof Unanswered)) throw error;
      }
    }
    return exchangeOn(await connect(url, deadline), url, request, deadline);
  }

  async function exchangeOn(
    open: Connection,
    { origin }: URL,
    request: Buffer,
    deadline: PushDeadline,
  ): Promise<Answer> {
    const answer = await open.exchange(request, deadline);
    if (answer.keepAlive) idle.keep(origin, open);
    else open.close();
    return answer;
  }

  return {
    async push(target, signed) {
      const deadline = pushDeadline(deadlineMs);
      try {
        const url = new URL(target);
        const answer = await exchange(url, requestBytes(url, signed), deadline);
        return {
          outcome: isAccepted(answer) ? 'ACCEPTED' : 'REFUSED',
          httpStatus: answer.status,
          answer: printable(answer.body),
        };
      } catch (error) {
        if (error instanceof Late) return failed('TIMEOUT', `no answer within ${deadlineMs} ms`);
        if (error instanceof ForbiddenAddress) return failed('FORBIDDEN', error.message);
        if (error instanceof BadAnswer) return failed('REFUSED', error.message);
        return failed('UNREACHABLE', reasonOf(error));
      } finally {
        deadline.clear();
      }
    },
    close: () => idle.close(),
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

function failed(outcome: DeliveryOutcome, reason: string): PushResult {
  return { outcome, httpStatus: null, answer: printable(reason) };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'it failed';
  const { cause = error } = error;
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : error.message;
}

/** Kept in a table and shown to people: nothing that PostgreSQL refuses or that a terminal obeys. */
function printable(text: string): string {
  return text.slice(0, SHOWN).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ');
}
