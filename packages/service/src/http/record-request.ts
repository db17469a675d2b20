import type { Socket } from 'node:net';
import { CODES, ENDPOINTS, HEADER_KEYS } from '@perennial/wire';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Clock } from '../platform/clock.js';
import { maskSentId } from '../platform/log/log.js';
import type { ServiceMetrics } from './metrics.js';
import type { RequestLog } from './request-log.js';

export interface RecordDeps {
  readonly clock: Clock;
  readonly metrics: ServiceMetrics;
  readonly log: Logger;
  readonly requestLog?: RequestLog | undefined;
}

/** The form of an app id. A request whose app id has a different form belongs to no channel. */
const APP_ID = /^[a-z0-9_]{3,64}$/;

/** The status that nginx logs if the client hung up. */
const CLIENT_CLOSED_REQUEST = 499;

/**
 * Returns the function that records a request in the metrics, the log and the request log. It must be called when the
 * answer was sent or the connection closed. `isUnread` returns true if a connection was closed because its client did
 * not read.
 */
export function createRecorder(
  { clock, metrics, log, requestLog }: RecordDeps,
  isUnread: (socket: Socket) => boolean,
): (request: FastifyRequest, reply: FastifyReply) => void {
  const cutReason = ({ cut, request }: FastifyReply) => cut ?? (isUnread(request.raw.socket) ? 'unread' : 'hung-up');

  return (request, reply) => {
    const endpoint = request.is404 ? 'unknown' : (request.routeOptions.url ?? 'unknown');
    const code = reply.resultCode ?? '';
    const cut = reply.raw.writableFinished ? undefined : cutReason(reply);
    const elapsedMs = performance.now() - request.startedAt;
    // A client that hung up received no result code.
    const got = cut === 'hung-up' ? { status: CLIENT_CLOSED_REQUEST, code: '' } : { status: reply.statusCode, code };
    metrics.observeRequest(endpoint, got.status, got.code, elapsedMs);
    if (cut) metrics.observeCut(cut);
    const isCall = endpoint.startsWith('/openapi/');
    // Of the notices, only those answered with 503001 are logged here.
    if (!isCall && (reply.why === undefined || !endpoint.startsWith('/gateway/'))) return;
    const appId = String(request.headers[HEADER_KEYS.appId] ?? '').slice(0, 64);
    const ms = Math.round(elapsedMs * 10) / 10;
    const diagnosis = reply.diagnosedMistakes?.join(' ');
    const { statusCode: status, why } = reply;
    log.info({ requestId: request.id, appId, endpoint, status, code, why, ms, cut, diagnosis }, 'request');
    if (!isCall || !APP_ID.test(appId) || isPoll(endpoint, got.code)) return;
    const logged = {
      at: clock.now(),
      appId,
      endpoint,
      code: got.code,
      httpStatus: got.status,
      durationMs: Math.round(elapsedMs),
      requestId: maskSentId(request.id),
      reason:
        reply.refusalMessage === undefined ? null : [reply.refusalMessage, ...(request.warnings ?? [])].join('; '),
      address: request.ip ?? '',
    };
    requestLog?.add(logged, request.isAdmitted);
  };
}

/** Endpoints that a developer's tools poll. */
const POLLED: readonly string[] = [ENDPOINTS['sandbox/events/pull'].path, ENDPOINTS['sandbox/requests/list'].path];

/** Returns true for a developer's successful polls, which would bury the channel's other calls. */
const isPoll = (endpoint: string, code: string): boolean => POLLED.includes(endpoint) && code === CODES.SUCCESS.code;
