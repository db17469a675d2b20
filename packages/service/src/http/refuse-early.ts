import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { CODES, envelopeText, formatTime, HEADERS } from '@perennial/wire';
import type { Logger } from 'pino';
import type { Clock } from '../platform/clock.js';
import { JSON_TYPE } from './answers/respond.js';
import type { AuthenticationFailures } from './limits/authentication-failures.js';
import type { NodeLoad } from './limits/node-load.js';
import { createThrottledLines } from './limits/throttled-lines.js';
import type { ServiceMetrics } from './metrics.js';
import { writeThenLinger } from './requests/linger.js';
import { requestIdOf } from './requests/signed-headers.js';

export interface RefuseEarlyDeps {
  readonly load: NodeLoad;
  readonly failures: AuthenticationFailures;
  readonly clock: Clock;
  readonly metrics: ServiceMetrics;
  readonly log: Logger;
  /** The paths of endpoints: other paths cost little. */
  readonly paths: ReadonlySet<string>;
  readonly isDraining: () => boolean;
  /** Whether the request came on a connection beyond the bound. */
  readonly isSpare: (request: IncomingMessage, response: ServerResponse) => boolean;
  readonly lingerMs: number;
}

const { code, http, message } = CODES.UNAVAILABLE;

/**
 * A request that a node cannot serve in time is refused as soon as its headers are there: before the framework, and before
 * anything is looked up, read or computed. With ten times too many requests nine of ten are refused, and the cost of that is
 * missing for the tenth. Node discards the body, and the connection is kept, unless it is one too many.
 */
export function createEarlyRefusal(deps: RefuseEarlyDeps) {
  const { load, failures, clock, metrics, log, paths, isDraining, isSpare, lingerMs } = deps;
  const lines = createThrottledLines();

  function refuse(request: IncomingMessage, response: ServerResponse, endpoint: string, channel: string): void {
    const requestId = requestIdOf(request);
    const text = envelopeText(CODES.UNAVAILABLE, message, 'null', requestId, formatTime(clock.now()));
    response.writeHead(http, {
      'content-type': JSON_TYPE,
      'content-length': Buffer.byteLength(text),
      [HEADERS.retryAfter]: '1',
    });
    if (response.shouldKeepAlive) response.end(text);
    else writeThenLinger(request, response, text, lingerMs);
    metrics.observeRequest(endpoint, http, code);
    const where = { channel, ...load.counts() };
    lines.write(
      channel,
      () => log.warn({ requestId, endpoint, ...where }, 'refused: this node has more to do than it can do in time'),
      (heldBack) => log.warn({ ...where, heldBack }, 'more requests were refused'),
    );
  }

  return {
    wrap:
      (serve: RequestListener): RequestListener =>
      (request, response) => {
        const isOneTooMany = isSpare(request, response);
        if ((load.hasRoomForAnybody() && !isOneTooMany) || request.method !== 'POST' || isDraining()) {
          return serve(request, response);
        }
        const { url = '' } = request;
        const query = url.indexOf('?');
        const path = query < 0 ? url : url.slice(0, query);
        const channel = failures.knownChannel(request);
        if (paths.has(path) && (isOneTooMany || !load.mayEnter(channel)))
          return refuse(request, response, path, channel);
        return serve(request, response);
      },
    /** Writes the lines of the log that are still held back. */
    stop: () => lines.flush(),
  };
}
