import net from 'node:net';
import tls from 'node:tls';
import { type Answer, answerReader } from './answer.js';
import type { PushDeadline } from './push-deadline.js';

/** The connection was closed before a byte of an answer came. */
export class Unanswered extends Error {}

export interface Connection {
  /** As `performance.now()` has it. */
  readonly openedAt: number;
  isOpen(): boolean;
  /** One request and its answer. After a failure the connection is closed. */
  exchange(request: Buffer, deadline: PushDeadline): Promise<Answer>;
  /** Nothing is asked for until the next exchange: whatever comes before that, it is over. */
  rest(over: () => void): void;
  close(): void;
}

export interface Target {
  /** The very address to connect to. */
  readonly address: string;
  readonly port: number;
  /** Unset: without TLS. */
  readonly security?: { readonly context: tls.SecureContext; readonly host: string };
}

/** Who is told what happens on a socket. It has one set of listeners for its whole life, so no error goes unheard. */
interface Listener {
  data(bytes: Buffer): void;
  over(error?: Error): void;
}

const NOBODY: Listener = { data: () => undefined, over: () => undefined };

export function openConnection(target: Target, deadline: PushDeadline): Promise<Connection> {
  return deadline.run((resolve, reject) => {
    const socket = dial(target);
    let listener: Listener = NOBODY;
    const close = () => {
      listener = NOBODY;
      socket.destroy();
    };
    const connection: Connection = {
      openedAt: performance.now(),
      isOpen: () => socket.readable && socket.writable,
      exchange: (request, until) =>
        until.run((answered, failed) => {
          listener = answerListener(
            (answer) => {
              listener = NOBODY;
              answered(answer);
            },
            (error) => {
              close();
              failed(error);
            },
          );
          socket.write(request);
          return close;
        }),
      rest(over) {
        listener = { data: over, over };
      },
      close,
    };
    listener = {
      data: () => undefined,
      over(error) {
        close();
        reject(error ?? new Error('the connection was closed'));
      },
    };
    socket
      .setNoDelay(true)
      .on('data', (bytes: Buffer) => listener.data(bytes))
      .on('error', (error) => listener.over(error))
      .on('end', () => listener.over())
      .on('close', () => listener.over())
      .once(target.security ? 'secureConnect' : 'connect', () => resolve(connection));
    return close;
  });
}

function dial({ address, port, security }: Target): net.Socket {
  if (!security) return net.connect({ host: address, port });
  const { context, host } = security;
  return tls.connect({
    host: address,
    port,
    secureContext: context,
    // The certificate is asked for, and checked, for the name and not for the address that was found for it.
    ...(net.isIP(host) === 0 ? { servername: host } : {}),
    ALPNProtocols: ['http/1.1'],
    // Not to be switched off from outside.
    rejectUnauthorized: true,
  });
}

function answerListener(answered: (answer: Answer) => void, failed: (error: unknown) => void): Listener {
  const reader = answerReader();
  let isSilent = true;
  const attempt = (read: () => Answer | undefined) => {
    try {
      const answer = read();
      if (answer) answered(answer);
    } catch (error) {
      failed(error);
    }
  };
  return {
    data(bytes) {
      isSilent = false;
      attempt(() => reader.add(bytes));
    },
    over(error) {
      if (isSilent) failed(new Unanswered('the connection was closed', { cause: error }));
      else if (error) failed(error);
      else attempt(() => reader.end());
    },
  };
}
