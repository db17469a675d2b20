import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { CODES, envelopeText, formatTime } from '@perennial/wire';
import type { Clock } from '../clock.js';
import { JSON_TYPE } from './respond.js';

/**
 * What is not readable as HTTP never reaches a route, and still gets the envelope. Broken headers are a malformed
 * header like any other (401001); the rest is 400001 under the status that HTTP has for it.
 */
export function refuseUnreadable(error: NodeJS.ErrnoException, socket: Socket, clock: Clock): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, result, message } = meaning(error.code ?? '');
  const body = envelopeText(result, message, 'null', randomUUID(), formatTime(clock.now()));
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: ${JSON_TYPE}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `Connection: close\r\n\r\n${body}`,
  );
}

function meaning(code: string) {
  const headers = { status: '401 Unauthorized', result: CODES.AUTH_HEADER_INVALID };
  if (code === 'HPE_HEADER_OVERFLOW') return { ...headers, message: 'the headers are too large' };
  if (/^HPE_(INVALID_HEADER_TOKEN|CR_EXPECTED|LF_EXPECTED|UNEXPECTED_SPACE)/.test(code)) {
    return { ...headers, message: 'a header is malformed' };
  }
  const param = { result: CODES.PARAM_INVALID };
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return { ...param, status: '408 Request Timeout', message: 'the request did not arrive in time' };
  }
  return { ...param, status: '400 Bad Request', message: 'the request is not HTTP/1.1' };
}
