import tls from 'node:tls';
import type { DeliveryOutcome } from '../queue/finish-sql.js';
import type { SignedPush } from '../receivers/message.js';
import { DEADLINE_MS } from '../schedule.js';
import { type AddressRules, connectAddresses, dnsResolve, ForbiddenAddress, hostOf, type Resolve } from './address.js';
import { type Answer, isAccepted, type PartOfAnswer } from './answer.js';
import { type Connection, openConnection, Unanswered } from './connection.js';
import { idleConnections } from './idle-connections.js';
import { BadAnswer } from './incoming.js';
import { Late, PushDeadline, pushDeadlines } from './push-deadline.js';
import { newPlace, type Place, type Request, requestOf } from './request.js';

export interface PushResult {
  readonly outcome: DeliveryOutcome;
  readonly httpStatus: number | null;
  /** The first of what came back; before it, in a few words, why nothing more did. */
  readonly answer: string;
}

export interface Connections {
  /**
   * Always says what became of it: only `sign` may throw. That is asked for again when the same has to be sent on a second
   * connection.
   */
  push(url: string, sign: () => SignedPush): Promise<PushResult>;
  /** No connection is kept any longer; one that is in use is closed after its push. */
  close(): void;
}

export interface ConnectionOptions extends AddressRules {
  readonly deadlineMs?: number;
  readonly resolve?: Resolve;
  /** Certificates to trust besides those that Node trusts: for tests. */
  readonly ca?: string;
}

interface Sending {
  readonly place: Place;
  readonly request: Request;
  readonly sign: () => SignedPush;
}

/** A connection that is closed so soon after it was written to: its receiver has hardly read that, let alone worked on it. */
const AT_ONCE_MS = 100;
const PLAIN = /^[ -~]*$/;
/** Of an answer, so many characters are written down. */
const SHOWN = 200;
/** Addresses that are remembered in parts. */
const MOST_PLACES = 10_000;

/** Pushes over kept connections, one at a time on each. Everything about one push happens within its deadline. */
export function connections(options: ConnectionOptions): Connections {
  const { deadlineMs = DEADLINE_MS, resolve = dnsResolve(), ca } = options;
  const context = tls.createSecureContext(ca === undefined ? {} : { ca: [...tls.rootCertificates, ca] });
  const idle = idleConnections();
  const deadlines = pushDeadlines(deadlineMs);
  const places = new Map<string, Place>();

  /** An address is taken apart once. */
  function placeOf(url: string): Place {
    const known = places.get(url);
    if (known) return known;
    if (places.size >= MOST_PLACES) places.clear();
    const place = newPlace(new URL(url));
    places.set(url, place);
    return place;
  }

  async function connect(url: URL, deadline: PushDeadline): Promise<Connection> {
    const addresses = await deadline.run<readonly string[]>((found, failed) => {
      connectAddresses(url, options, resolve).then(found, failed);
      return () => undefined;
    });
    const security = url.protocol === 'https:' ? { context, host: hostOf(url) } : undefined;
    const port = Number(url.port || (security ? 443 : 80));
    let first: unknown;
    for (const [index, address] of addresses.entries()) {
      // All but the last get a share, so that there is time for those after them, and for the answer.
      const after = addresses.length - 1 - index;
      const withinMs = after === 0 ? undefined : deadline.left() / (after + 2);
      try {
        return await openConnection({ address, port, ...(security ? { security } : {}) }, deadline, withinMs);
      } catch (error) {
        if (error instanceof Late) throw error;
        first ??= error;
      }
    }
    throw first;
  }

  /** On a connection that was kept, or on a new one. By callbacks: this is done for every single push. */
  function exchange({ place, request, sign }: Sending, deadline: PushDeadline, ended: (result: PushResult) => void) {
    const failedBy = (error: unknown, soFar?: PartOfAnswer) => ended(failureOf(error, soFar));
    const exchangeOn = (open: Connection, sent: Request, sentAgainUntil: number) => {
      deadline.stop = () => {
        open.close();
        failedBy(new Late(), open.soFar());
      };
      open.exchange(sent, (answer, error) => {
        if (answer) {
          if (answer.keepAlive) idle.keep(place.origin, open);
          else open.close();
          ended(resultOf(answer));
        } else if (error instanceof Unanswered && performance.now() < sentAgainUntil) {
          // It was closed at the other end just then: once more, on a new one.
          try {
            connectAnew(requestOf(place, sign()));
          } catch (error) {
            failedBy(error);
          }
        } else failedBy(error, open.soFar());
      });
    };
    const connectAnew = (sent: Request) =>
      connect(place.url, deadline).then((open) => exchangeOn(open, sent, 0), failedBy);
    const kept = idle.take(place.origin);
    if (kept) exchangeOn(kept, request, performance.now() + AT_ONCE_MS);
    else connectAnew(request);
  }

  function failureOf(error: unknown, soFar?: PartOfAnswer): PushResult {
    if (error instanceof Late) return failed('TIMEOUT', `no answer within ${deadlineMs} ms`, soFar);
    if (error instanceof ForbiddenAddress) return failed('FORBIDDEN', error.message);
    if (error instanceof BadAnswer) return failed('REFUSED', error.message, soFar);
    return failed('UNREACHABLE', reasonOf(error), soFar);
  }

  return {
    push(url, sign) {
      const signed = sign();
      return new Promise((resolve) => {
        const deadline = new PushDeadline(performance.now() + deadlineMs);
        const ended = (result: PushResult) => {
          deadlines.delete(deadline);
          resolve(result);
        };
        deadlines.add(deadline);
        try {
          const place = placeOf(url);
          exchange({ place, request: requestOf(place, signed), sign }, deadline, ended);
        } catch (error) {
          ended(failureOf(error));
        }
      });
    },
    close: () => idle.close(),
  };
}

/** A connection gives the same answer again when the same bytes came again. */
const results = new WeakMap<Answer, PushResult>();

function resultOf(answer: Answer): PushResult {
  const known = results.get(answer);
  if (known) return known;
  const result: PushResult = {
    outcome: isAccepted(answer) ? 'ACCEPTED' : 'REFUSED',
    httpStatus: answer.status,
    answer: printable(answer.body),
  };
  results.set(answer, result);
  return result;
}

function failed(outcome: DeliveryOutcome, reason: string, soFar?: PartOfAnswer): PushResult {
  const answer = soFar?.body ? `${reason}: ${soFar.body}` : reason;
  return { outcome, httpStatus: soFar?.status ?? null, answer: printable(answer) };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'it failed';
  const { cause = error } = error;
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : error.message;
}

/** Kept in a table and shown to people: nothing that PostgreSQL refuses or that a terminal obeys. */
function printable(text: string): string {
  const shown = text.slice(0, SHOWN);
  return PLAIN.test(shown) ? shown : shown.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ');
}
