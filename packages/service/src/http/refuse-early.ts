import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { CODES, envelopeText, formatTime, HEADERS } from '@perennial/wire';
import type { Logger } from 'pino';
import type { Clock } from '../platform/clock.js';
import { JSON_TYPE } from './answers/respond.js';
import type { AuthenticationFailures } from './limits/authentication-failures.js';
import type { NodeLoad } from './limits/node-load.js';
import { createThrottledLines } from './limits/throttled-lines.js';
import type { ServiceMetrics } from './metrics.js';
import { writeAndHalfClose } from './requests/half-close.js';
import { requestIdOf } from './requests/signed-headers.js';

export interface RefuseEarlyDeps {
  readonly load: NodeLoad;
  readonly failures: AuthenticationFailures;
  readonly clock: Clock;
  readonly metrics: ServiceMetrics;
  readonly log: Logger;
  /** The paths of endpoints. Requests to other paths are not refused here, because they are cheap. */
  readonly paths: ReadonlySet<string>;
  readonly isDraining: () => boolean;
  /** True if the request came on a connection beyond the limit. */
  readonly isSpare: (request: IncomingMessage, response: ServerResponse) => boolean;
  readonly halfCloseMs: number;
}

const { code, http, message } = CODES.UNAVAILABLE;

/**
 * Refuses a request that the node cannot serve in time, or that came on a spare connection, as soon as its headers are
 * read and before the framework does any work. At ten times the capacity nine of ten requests are refused, so a refusal
 * must be cheap. Otherwise no time would remain for the tenth. Node discards the body. The connection stays open,
 * unless it is spare or the client closes it.
 */
export function createEarlyRefusal(deps: RefuseEarlyDeps) {
  const { load, failures, clock, metrics, log, paths, isDraining, isSpare, halfCloseMs } = deps;
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
    else writeAndHalfClose(request, response, text, halfCloseMs);
    metrics.observeRequest(endpoint, http, code);
    const where = { channel, ...load.counts() };
    lines.write(
      channel,
      () => log.warn({ requestId, endpoint, ...where }, 'request refused: this node is overloaded'),
      (heldBack) => log.warn({ ...where, heldBack }, 'further requests refused'),
    );
  }

  return {
    wrap:
      (serve: RequestListener): RequestListener =>
      (request, response) => {
        const isOnSpare = isSpare(request, response);
        if ((load.hasRoomForAnybody() && !isOnSpare) || request.method !== 'POST' || isDraining()) {
          return serve(request, response);
        }
        const { url = '' } = request;
        const query = url.indexOf('?');
        const path = query < 0 ? url : url.slice(0, query);
        const channel = failures.knownChannel(request);
        if (paths.has(path) && (isOnSpare || !load.mayEnter(channel))) return refuse(request, response, path, channel);
        return serve(request, response);
      },
    stop: () => lines.flush(),
  };
}
