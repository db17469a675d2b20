import net from 'node:net';
import tls from 'node:tls';
import { type Answer, type AnswerReader, answerReader, type PartOfAnswer } from './answer.js';
import type { PushDeadline } from './push-deadline.js';
import type { Request } from './request.js';

/** The connection was closed before a byte of an answer came. */
export class Unanswered extends Error {}

export interface Connection {
  /** As `performance.now()` has it. */
  readonly openedAt: number;
  isOpen(): boolean;
  /** One request; then its answer, or why there is none. After a failure the connection is closed. */
  exchange(request: Request, ended: Ended): void;
  /** Of an answer that is not complete, also after the connection was closed. */
  soFar(): PartOfAnswer | undefined;
  /** Nothing is asked for until the next exchange: whatever comes before that, it is over. */
  rest(over: () => void): void;
  /** Nobody is told anything any more. */
  close(): void;
}

export type Ended = (answer: Answer | undefined, error?: unknown) => void;

export interface Target {
  /** The very address to connect to. */
  readonly address: string;
  readonly port: number;
  /** Unset: without TLS. */
  readonly security?: { readonly context: tls.SecureContext; readonly host: string };
}

/** Of an answer, so many bytes are read at a time: most are shorter. */
const READ_BYTES = 4_096;

/** Within the deadline, or earlier than that. */
export function openConnection(target: Target, deadline: PushDeadline, withinMs?: number): Promise<Connection> {
  return deadline.run((resolve, reject) => {
    const bytes = Buffer.allocUnsafeSlow(READ_BYTES);
    // A socket has one set of listeners for its whole life, so no error goes unheard.
    const socket = dial(target, {
      buffer: bytes,
      callback: (size) => {
        connection.came(bytes, size);
        return true;
      },
    });
    const connection = new OpenConnection(socket);
    const tooSlow =
      withinMs === undefined
        ? undefined
        : setTimeout(() => connection.over(new Error(`no connection within ${Math.round(withinMs)} ms`)), withinMs);
    const leaveOff = () => {
      clearTimeout(tooSlow);
      connection.close();
    };
    connection.rest((error) => {
      leaveOff();
      reject(error ?? new Error('the connection was closed'));
    });
    socket
      .setNoDelay(true)
      .on('error', (error) => connection.over(error))
      .on('end', () => connection.over())
      .on('close', () => connection.over())
      .once(target.security ? 'secureConnect' : 'connect', () => {
        clearTimeout(tooSlow);
        resolve(connection);
      });
    return leaveOff;
  });
}

/** The bytes of a socket are read into a buffer of its own: a stream would make a new one for every packet. */
function dial({ address, port, security }: Target, onread: net.OnReadOpts): net.Socket {
  if (!security) return net.connect({ host: address, port, onread });
  const { context, host } = security;
  const options: tls.ConnectionOptions & { onread: net.OnReadOpts } = {
    host: address,
    port,
    onread,
    secureContext: context,
    // The certificate is asked for, and checked, for the name and not for the address that was found for it.
    ...(net.isIP(host) === 0 ? { servername: host } : {}),
    ALPNProtocols: ['http/1.1'],
    // Not to be switched off from outside.
    rejectUnauthorized: true,
  };
  return tls.connect(options);
}

class OpenConnection implements Connection {
  readonly openedAt = performance.now();
  /** Set while an answer is waited for. */
  private ended: Ended | undefined;
  /** Told what happens while none is. */
  private disturbed: ((error?: Error) => void) | undefined;
  /** Of an answer that has come in part. */
  private reader: AnswerReader | undefined;
  /** The last answer that came in one packet, and its bytes. */
  private lastBytes = '';
  private lastAnswer: Answer | undefined;

  constructor(private readonly socket: net.Socket) {}

  isOpen(): boolean {
    return this.socket.readable && this.socket.writable;
  }

  exchange({ text, encoding }: Request, ended: Ended): void {
    this.disturbed = undefined;
    this.ended = ended;
    this.socket.write(text, encoding);
  }

  soFar(): PartOfAnswer | undefined {
    return this.reader?.soFar();
  }

  rest(over: (error?: Error) => void): void {
    this.disturbed = over;
  }

  close(): void {
    this.ended = undefined;
    this.disturbed = undefined;
    this.socket.destroy();
  }

  came(bytes: Buffer, size: number): void {
    if (!this.ended) {
      this.disturbed?.();
      return;
    }
    // A receiver tends to say the very same to one push after another, and it means the same each time.
    const text = this.reader ? '' : bytes.toString('latin1', 0, size);
    if (this.lastAnswer && text === this.lastBytes) {
      this.finish(this.lastAnswer);
      return;
    }
    const reader = this.reader ?? answerReader();
    this.reader = reader;
    const answer = this.attempt(() => reader.add(Buffer.from(bytes.subarray(0, size))));
    if (!answer) return;
    this.lastBytes = text;
    this.lastAnswer = text === '' ? undefined : answer;
    this.finish(answer);
  }

  over(error?: Error): void {
    const { ended, reader } = this;
    if (!ended) this.disturbed?.(error);
    else if (!reader) this.fail(new Unanswered('the connection was closed', { cause: error }));
    else if (error) this.fail(error);
    else {
      const answer = this.attempt(() => reader.end());
      if (answer) this.finish(answer);
    }
  }

  private attempt(read: () => Answer | undefined): Answer | undefined {
    try {
      return read();
    } catch (error) {
      this.fail(error);
      return undefined;
    }
  }

  private finish(answer: Answer): void {
    const { ended } = this;
    this.ended = undefined;
    this.reader = undefined;
    ended?.(answer);
  }

  private fail(error: unknown): void {
    const { ended } = this;
    this.close();
    ended?.(undefined, error);
  }
}
