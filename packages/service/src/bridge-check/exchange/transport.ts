import http from 'node:http';
import https from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import { connectSocket } from '../../platform/http-client/connection.js';
import { Deadline, DeadlinePassed } from '../../platform/http-client/deadline.js';
import { DIRECT, findRoute, type PeerAccess } from '../../platform/http-client/peer-access.js';

/** `cut-off`: closes the connection after half of the body. `hang-up`: sends the whole body, then closes at once. */
export type Manner = 'whole' | 'in-pieces' | 'cut-off' | 'hang-up';

export interface Message {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface HttpAnswer {
  readonly kind: 'answer';
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
}
export type Arrival =
  | HttpAnswer
  | { readonly kind: 'late' | 'broken' | 'unreachable' | 'too-large'; readonly why: string }
  /** The sender hung up without waiting for an answer. */
  | { readonly kind: 'left' };

export interface Delivery {
  /** The bridge's origin, without a path. */
  readonly origin: string;
  readonly manner: Manner;
  readonly deadlineMs: number;
  readonly maxBytes: number;
  readonly peers?: PeerAccess | undefined;
}

const PIECES = 3;
const PIECE_PAUSE_MS = 30;

/** Sends the bytes unchanged on a new connection, and reads at most `maxBytes` of the answer. */
export function sendMessage(message: Message, delivery: Delivery): Promise<Arrival> {
  const { origin, manner, deadlineMs, maxBytes, peers = DIRECT } = delivery;
  return new Promise((resolve) => {
    const { request: open } = origin.startsWith('https:') ? https : http;
    const headers = { ...message.headers, 'content-length': String(message.body.length) };
    const deadline = new Deadline(performance.now() + deadlineMs);
    const { target, openTunnel } = findRoute(new URL(origin), peers);
    const createConnection: http.ClientRequestArgs['createConnection'] = (_options, onOpen) => {
      if (!openTunnel) return connectSocket(target);
      openTunnel(deadline).then(
        (tunnel) => onOpen(null, connectSocket({ ...target, tunnel })),
        (error: Error) => end({ kind: 'unreachable', why: error.message }),
      );
      return undefined;
    };
    const request = open(`${origin}${message.path}`, { method: 'POST', createConnection, headers });
    let isConnected = false;
    const end = (arrival: Arrival): void => {
      clearTimeout(timer);
      resolve(arrival);
      request.destroy();
      deadline.cancelStep(new DeadlinePassed());
    };
    const timer = setTimeout(() => {
      end({ kind: isConnected ? 'late' : 'unreachable', why: `no answer within ${deadlineMs / 1000} s` });
    }, deadlineMs);
    request.on('socket', (socket) => {
      socket.once(origin.startsWith('https:') ? 'secureConnect' : 'connect', () => {
        isConnected = true;
      });
    });
    // Keeps only the error's code or name, because its message may contain the payload.
    request.on('error', (error: NodeJS.ErrnoException) => {
      end({ kind: isConnected ? 'broken' : 'unreachable', why: error.code ?? error.name });
    });
    request.on('response', (response) => readAnswer(response, maxBytes, end));
    void write(request, message.body, manner).then((isWaiting) => {
      if (!isWaiting) end({ kind: 'left' });
    });
  });
}

/** Resolves to true if the sender waits for an answer. */
async function write(request: http.ClientRequest, body: Buffer, manner: Manner): Promise<boolean> {
  const flushed = (piece: Buffer) => new Promise<void>((resolve) => request.write(piece, () => resolve()));
  if (manner === 'cut-off') {
    await flushed(body.subarray(0, body.length >> 1));
    return false;
  }
  if (manner === 'in-pieces') {
    const size = Math.ceil(body.length / PIECES);
    for (let from = 0; from < body.length; from += size) {
      await flushed(body.subarray(from, from + size));
      await pause(PIECE_PAUSE_MS);
    }
    request.end();
    return true;
  }
  if (manner === 'whole') {
    request.end(body);
    return true;
  }
  await new Promise<void>((resolve) => request.end(body, () => resolve()));
  return false;
}

function readAnswer(response: http.IncomingMessage, maxBytes: number, end: (arrival: Arrival) => void): void {
  const chunks: Buffer[] = [];
  let size = 0;
  response.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes) end({ kind: 'too-large', why: `more than ${maxBytes} bytes` });
  });
  response.on('end', () => {
    const { statusCode: status = 0, headers } = response;
    end({ kind: 'answer', status, headers, body: Buffer.concat(chunks) });
  });
  const cutOff = () => end({ kind: 'broken', why: 'the answer was cut off' });
  response.on('error', cutOff);
  response.on('aborted', cutOff);
}
