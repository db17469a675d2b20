import { createExpiryQueue } from '../../platform/expiry-queue.js';
import type { PartialAnswer, WantedAnswer } from '../../platform/http-client/answer.js';
import { ClosedWithoutAnswer, type Connection, openConnection } from '../../platform/http-client/connection.js';
import { Deadline, DeadlinePassed } from '../../platform/http-client/deadline.js';
import { createIdleConnections } from '../../platform/http-client/idle-connections.js';
import { createEndpoint, createRequest, type Endpoint, type Request } from '../../platform/http-client/request.js';
import { trustedCertificates } from '../../platform/http-client/trusted-certificates.js';
import type { SignedPush } from '../receivers/message.js';
import { MAX_ANSWER_BYTES, PUSH_DEADLINE_MS } from '../schedule.js';
import {
  type AddressRules,
  createDnsResolver,
  findPermittedAddresses,
  hostNameOf,
  type ResolveName,
} from './addresses.js';
import { type PushResult, resultOfAnswer, resultOfError } from './push-result.js';

export interface PushClientOptions extends AddressRules {
  readonly deadlineMs?: number;
  readonly resolveName?: ResolveName;
  /** Certificates to trust besides Node's own, for tests. */
  readonly ca?: string;
}

/** If the receiver closes a reused connection within this time after the push was written to it, the push is resent. */
const RESEND_WINDOW_MS = 100;
const WANTED: WantedAnswer = { maxBytes: MAX_ANSWER_BYTES, encoding: 'utf8' };
/** The maximum number of parsed callback addresses in the cache. */
const MAX_ENDPOINTS = 10_000;

/**
 * Sends pushes over connections that stay open for further pushes, one push at a time on each connection. One deadline
 * applies to all steps of a push.
 */
export function createPushClient(options: PushClientOptions) {
  const { deadlineMs = PUSH_DEADLINE_MS } = options;
  const idle = createIdleConnections();
  const connect = createConnector(options);
  const deadlines = createExpiryQueue<Deadline>(deadlineMs, (deadline) => deadline.cancelStep(new DeadlinePassed()));
  const endpoints = new Map<string, Endpoint>();

  function endpointAt(url: string): Endpoint {
    const known = endpoints.get(url);
    if (known) return known;
    if (endpoints.size >= MAX_ENDPOINTS) endpoints.clear();
    const endpoint = createEndpoint(new URL(url));
    endpoints.set(url, endpoint);
    return endpoint;
  }

  /**
   * Sends on an idle connection of an earlier push, or on a new connection. Uses callbacks instead of promises, because
   * it runs for every push.
   */
  function send(
    endpoint: Endpoint,
    firstRequest: Request,
    sign: () => SignedPush,
    deadline: Deadline,
    onEnd: (result: PushResult) => void,
  ): void {
    const fail = (error: unknown, partial?: PartialAnswer) => onEnd(resultOfError(error, deadlineMs, partial));
    const sendOn = (connection: Connection, request: Request, resendUntil: number) => {
      deadline.cancelStep = (why) => {
        connection.close();
        fail(why, connection.partialAnswer());
      };
      connection.send(request, WANTED, (answer, error) => {
        if (answer) {
          if (answer.keepAlive) idle.keep(endpoint.origin, connection);
          else connection.close();
          onEnd(resultOfAnswer(answer));
        } else if (error instanceof ClosedWithoutAnswer && performance.now() < resendUntil) {
          resend();
        } else fail(error, connection.partialAnswer());
      });
    };
    const sendOnNewConnection = (request: Request) =>
      connect(endpoint.url, deadline).then((connection) => sendOn(connection, request, 0), fail);
    /** Resends the push, because the receiver most likely closed the connection before it read the push. */
    const resend = () => {
      try {
        void sendOnNewConnection(createRequest(endpoint, sign()));
      } catch (error) {
        fail(error);
      }
    };
    const kept = idle.take(endpoint.origin);
    if (kept) sendOn(kept, firstRequest, performance.now() + RESEND_WINDOW_MS);
    else void sendOnNewConnection(firstRequest);
  }

  return {
    /**
     * Sends one push and always resolves with its result: only `sign` may throw. `sign` is called again if the push is
     * resent on another connection.
     */
    push(url: string, sign: () => SignedPush): Promise<PushResult> {
      const signed = sign();
      return new Promise((resolve) => {
        const deadline = new Deadline(performance.now() + deadlineMs);
        const expiring = deadlines.add(deadline);
        const onEnd = (result: PushResult) => {
          deadlines.delete(expiring);
          resolve(result);
        };
        try {
          const endpoint = endpointAt(url);
          send(endpoint, createRequest(endpoint, signed), sign, deadline, onEnd);
        } catch (error) {
          onEnd(resultOfError(error, deadlineMs));
        }
      });
    },
    /** Closes idle connections. A connection in use is closed after its push. */
    close: (): void => idle.close(),
  };
}

export type PushClient = ReturnType<typeof createPushClient>;

/** Returns a function that connects to one of the permitted addresses of a URL. */
function createConnector(options: PushClientOptions) {
  const { resolveName = createDnsResolver(), ca } = options;

  return async (url: URL, deadline: Deadline): Promise<Connection> => {
    const addresses = await deadline.runStep<readonly string[]>((resolve, reject) => {
      findPermittedAddresses(url, options, resolveName).then(resolve, reject);
      return () => undefined;
    });
    const security =
      url.protocol === 'https:' ? { context: trustedCertificates(ca), host: hostNameOf(url) } : undefined;
    const port = Number(url.port || (security ? 443 : 80));
    let firstError: unknown;
    for (const [index, address] of addresses.entries()) {
      // Each address except the last gets a part of the remaining time, so that time is left for further addresses and
      // the answer.
      const addressesLeft = addresses.length - 1 - index;
      const withinMs = addressesLeft === 0 ? undefined : deadline.remainingMs() / (addressesLeft + 2);
      try {
        return await openConnection({ address, port, ...(security ? { security } : {}) }, deadline, withinMs);
      } catch (error) {
        if (error instanceof DeadlinePassed) throw error;
        firstError ??= error;
      }
    }
    throw firstError;
  };
}
