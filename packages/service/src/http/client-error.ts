import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { CODES, envelopeText, formatTime, HEADER_KEYS } from '@perennial/wire';
import type { Clock } from '../clock.js';
import { endThenLinger } from './linger.js';
import { JSON_TYPE } from './respond.js';
import { usableRequestId } from './signed-headers.js';

/** Whatever follows something unreadable is unreadable too, and Node reports it again and again. */
const refused = new WeakSet<Socket>();

/**
 * What is not readable as HTTP never reaches a route, and still gets the envelope. Broken headers are a malformed
 * header like any other (401001); the rest is 400001 under the status that HTTP has for it.
 */
export function unreadableRefuser(clock: Clock, lingerMs: number) {
  return (error: NodeJS.ErrnoException, socket: Socket): void => {
    if (refused.has(socket)) return;
    refused.add(socket);
    if (error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    afterEarlierAnswers(socket, (unfinished) => {
      if (!socket.writable || unfinished?.headersSent) socket.destroy();
      else endThenLinger(socket, answerTo(error.code ?? '', unfinished, clock), lingerMs);
    });
  };
}

function answerTo(code: string, unfinished: ServerResponse | undefined, clock: Clock): string {
  const { status, result, message } = meaning(code);
  const requestId = usableRequestId(unfinished?.req.headers[HEADER_KEYS.requestId]) ?? randomUUID();
  const body = envelopeText(result, message, 'null', requestId, formatTime(clock.now()));
  return (
    `HTTP/1.1 ${status}\r\nContent-Type: ${JSON_TYPE}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
    `Connection: close\r\n\r\n${body}`
  );
}

/**
 * A client may have sent whole requests before what cannot be read. Their answers come first: it would take ours for
 * one of them. What is handed on is the response of a request that broke off in the middle, if there is one.
 */
function afterEarlierAnswers(socket: Socket, go: (unfinished: ServerResponse | undefined) => void): void {
  const { _httpMessage: current } = socket as Socket & { _httpMessage?: ServerResponse | null };
  if (current?.req.complete) current.once('close', () => afterEarlierAnswers(socket, go));
  else go(current ?? undefined);
}

function meaning(code: string) {
  const headers = { status: '401 Unauthorized', result: CODES.AUTH_HEADER_INVALID };
  if (code === 'HPE_HEADER_OVERFLOW') return { ...headers, message: 'the headers are too large' };
  if (/^HPE_(INVALID_HEADER_TOKEN|CR_EXPECTED|LF_EXPECTED|UNEXPECTED_SPACE)/.test(code)) {
    return { ...headers, message: 'a header is malformed' };
  }
  const param = { status: '400 Bad Request', result: CODES.PARAM_INVALID };
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return { ...param, status: '408 Request Timeout', message: 'the request did not arrive in time' };
  }
  if (code === 'HPE_INVALID_EOF_STATE') return { ...param, message: 'the request ends before its end' };
  return { ...param, message: 'the request is not HTTP/1.1' };
}
