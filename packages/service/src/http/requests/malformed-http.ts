import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { CODES, envelopeText, formatTime, type ResultCode } from '@perennial/wire';
import type { Clock } from '../../platform/clock.js';
import { JSON_TYPE } from '../answers/respond.js';
import { endAndHalfClose } from './half-close.js';
import { requestIdOf } from './signed-headers.js';

interface Malformed {
  readonly http: 400 | 401 | 408;
  readonly result: ResultCode;
  readonly message: string;
  /** Matches Node's error codes. The first row that matches gives the answer. */
  readonly errors: RegExp;
}

/**
 * Documented in packages/developers/guides/errors.md. Malformed headers get 401001 like other bad headers. All other
 * rows get 400001 with the matching HTTP status.
 */
export const MALFORMED_HTTP: readonly Malformed[] = [
  {
    http: 401,
    result: CODES.AUTH_HEADER_INVALID,
    message: 'the headers are too large',
    errors: /^HPE_HEADER_OVERFLOW$/,
  },
  {
    http: 401,
    result: CODES.AUTH_HEADER_INVALID,
    message: 'a header is malformed',
    errors: /^HPE_(INVALID_HEADER_TOKEN|CR_EXPECTED|LF_EXPECTED|UNEXPECTED_SPACE)/,
  },
  {
    http: 408,
    result: CODES.PARAM_INVALID,
    message: 'the request did not arrive in time',
    errors: /^ERR_HTTP_REQUEST_TIMEOUT$/,
  },
  {
    http: 400,
    result: CODES.PARAM_INVALID,
    message: 'the request is truncated',
    errors: /^HPE_INVALID_EOF_STATE$/,
  },
  {
    http: 400,
    result: CODES.PARAM_INVALID,
    message: 'the request is not HTTP/1.1',
    errors: /^/,
  },
];

/** Sockets that were already answered. Node reports every further chunk of a malformed request as another error. */
const refused = new WeakSet<Socket>();

/**
 * Answers a request that is not valid HTTP, or does not arrive in time. The answer has the API's envelope, although the
 * request reaches no route.
 */
export function createMalformedHttpHandler(clock: Clock, halfCloseMs: number) {
  return (error: NodeJS.ErrnoException, socket: Socket): void => {
    if (refused.has(socket)) return;
    refused.add(socket);
    if (error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    afterEarlierAnswers(socket, (unfinished) => {
      if (!socket.writable || unfinished?.headersSent) socket.destroy();
      else endAndHalfClose(socket, createAnswer(error.code ?? '', unfinished, clock), halfCloseMs);
    });
  };
}

function createAnswer(code: string, unfinished: ServerResponse | undefined, clock: Clock): string {
  const row = MALFORMED_HTTP.find(({ errors }) => errors.test(code));
  if (!row) throw new Error('the last row must match every code');
  const requestId = requestIdOf(unfinished?.req);
  const body = envelopeText(row.result, row.message, 'null', requestId, formatTime(clock.now()));
  return (
    `HTTP/1.1 ${row.http} ${STATUS_CODES[row.http]}\r\nContent-Type: ${JSON_TYPE}\r\n` +
    `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`
  );
}

/**
 * Waits until the complete requests that came before the malformed request are answered. Otherwise the client would
 * take this answer for the answer to an earlier request. `unfinished` is the response of a request that broke off in
 * the middle.
 */
function afterEarlierAnswers(socket: Socket, go: (unfinished: ServerResponse | undefined) => void): void {
  const { _httpMessage: current } = socket as Socket & { _httpMessage?: ServerResponse | null };
  if (current?.req.complete) current.once('close', () => afterEarlierAnswers(socket, go));
  else go(current ?? undefined);
}
