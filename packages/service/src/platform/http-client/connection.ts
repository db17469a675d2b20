import net from 'node:net';
import tls from 'node:tls';
import { type Answer, type AnswerReader, createAnswerReader, type PartialAnswer, type WantedAnswer } from './answer.js';
import type { Deadline } from './deadline.js';
import type { Request } from './request.js';

/** The connection was closed before any byte of an answer. */
export class ClosedWithoutAnswer extends Error {}

export type Connection = Pick<
  SocketConnection,
  'openedAt' | 'isOpen' | 'send' | 'partialAnswer' | 'watchWhileIdle' | 'holdProcess' | 'close'
>;

export type AnswerCallback = (answer: Answer | undefined, error?: unknown) => void;

export interface Target {
  /** IP address to connect to, or a name that the operating system resolves. */
  readonly address: string;
  readonly port: number;
  readonly security?: { readonly context: tls.SecureContext; readonly host: string };
  /** A socket that a proxy has connected to the address. */
  readonly tunnel?: net.Socket;
}

/** The size of the read buffer. Most answers are shorter and arrive in one read. */
const READ_BUFFER_BYTES = 4_096;

/**
 * Opens a connection before the deadline. If `withinMs` is given, the connection must also be open within that time.
 */
export function openConnection(target: Target, deadline: Deadline, withinMs?: number): Promise<Connection> {
  return deadline.runStep((resolve, reject) => {
    const bytes = Buffer.allocUnsafeSlow(READ_BUFFER_BYTES);
    const socket = connectSocket(target, {
      buffer: bytes,
      callback: (size) => {
        connection.bytesArrived(bytes, size);
        return true;
      },
    });
    const connection = new SocketConnection(socket);
    const connectTimer =
      withinMs === undefined
        ? undefined
        : setTimeout(() => connection.closed(new Error(`no connection within ${Math.round(withinMs)} ms`)), withinMs);
    const cancel = () => {
      clearTimeout(connectTimer);
      connection.close();
    };
    connection.watchWhileIdle((error) => {
      cancel();
      reject(error ?? new Error('the connection was closed'));
    });
    const onOpen = () => {
      clearTimeout(connectTimer);
      resolve(connection);
    };
    // These listeners stay as long as the socket exists, so that every error is handled.
    socket
      .setNoDelay(true)
      .on('error', (error) => connection.closed(error))
      .on('end', () => connection.closed())
      .on('close', () => connection.closed())
      .once(target.security ? 'secureConnect' : 'connect', onOpen);
    if (target.tunnel) {
      // Over a tunnel, sockets ignore `onread`.
      socket.on('data', (chunk: Buffer) => connection.bytesArrived(chunk, chunk.length));
      if (!target.security) onOpen();
    }
    return cancel;
  });
}

/** Connects a socket that reads into one buffer (`onread`); a stream would allocate a buffer per packet. */
export function connectSocket({ address, port, security, tunnel }: Target, onread?: net.OnReadOpts): net.Socket {
  const read = onread ? { onread } : {};
  if (!security) return tunnel ?? net.connect({ host: address, port, ...read });
  const { context, host } = security;
  const options: tls.ConnectionOptions & { onread?: net.OnReadOpts } = {
    host: address,
    port,
    ...read,
    ...(tunnel ? { socket: tunnel } : {}),
    secureContext: context,
    // Requests and checks the certificate for the host name of the URL, not for the resolved address.
    ...(net.isIP(host) === 0 ? { servername: host } : {}),
    ALPNProtocols: ['http/1.1'],
    // Set explicitly, so that no environment variable can turn the check of certificates off.
    rejectUnauthorized: true,
  };
  return tls.connect(options);
}

class SocketConnection {
  /** By performance.now(). */
  readonly openedAt = performance.now();
  /** Set while a request waits for its answer. */
  private onEnd: AnswerCallback | undefined;
  private wanted: WantedAnswer | undefined;
  /** Set while the connection is being opened or idle. */
  private onDisturbed: ((error?: Error) => void) | undefined;
  private reader: AnswerReader | undefined;
  /** The bytes of the last answer if it came in one packet, otherwise empty. */
  private lastBytes = '';
  /** The answer that `lastBytes` was parsed to. */
  private lastAnswer: Answer | undefined;

  constructor(private readonly socket: net.Socket) {}

  isOpen(): boolean {
    return this.socket.readable && this.socket.writable;
  }

  /** Sends a request, and calls back with its answer or an error. After an error the connection is closed. */
  send({ text, encoding }: Request, wanted: WantedAnswer, onEnd: AnswerCallback): void {
    this.onDisturbed = undefined;
    this.wanted = wanted;
    this.onEnd = onEnd;
    this.socket.write(text, encoding);
  }

  /** Returns the received part of an incomplete answer, even after the connection was closed. */
  partialAnswer(): PartialAnswer | undefined {
    return this.reader?.partialAnswer();
  }

  /** Calls `onDisturbed` if bytes or a close arrive before the next `send`. The connection is then unusable. */
  watchWhileIdle(onDisturbed: (error?: Error) => void): void {
    this.onDisturbed = onDisturbed;
  }

  /** Sets whether the connection keeps the process alive. A new connection does. */
  holdProcess(isHeld: boolean): void {
    if (isHeld) this.socket.ref();
    else this.socket.unref();
  }

  /** Closes the connection without calling `onEnd` or `onDisturbed`. */
  close(): void {
    this.onEnd = undefined;
    this.onDisturbed = undefined;
    this.socket.destroy();
  }

  /** Handles a packet. Copies the bytes that it keeps, because the buffer is reused for the next packet. */
  bytesArrived(buffer: Buffer, size: number): void {
    const { wanted } = this;
    if (!this.onEnd || !wanted) {
      this.onDisturbed?.();
      return;
    }
    // Returns the previous answer if the bytes are the same, because receivers often give the same answer to every
    // push.
    const text = this.reader ? '' : buffer.toString('latin1', 0, size);
    if (this.lastAnswer && text === this.lastBytes) {
      this.succeed(this.lastAnswer);
      return;
    }
    const reader = this.reader ?? createAnswerReader(wanted);
    this.reader = reader;
    const answer = this.readOrFail(() => reader.add(Buffer.from(buffer.subarray(0, size))));
    if (!answer) return;
    this.lastBytes = text;
    this.lastAnswer = text === '' ? undefined : answer;
    this.succeed(answer);
  }

  /** Handles the end of the connection: an error, or a close by the other end. */
  closed(error?: Error): void {
    const { onEnd, reader } = this;
    if (!onEnd) this.onDisturbed?.(error);
    else if (!reader) this.fail(new ClosedWithoutAnswer('the connection was closed', { cause: error }));
    else if (error) this.fail(error);
    else {
      const answer = this.readOrFail(() => reader.endAtClose());
      if (answer) this.succeed(answer);
    }
  }

  private readOrFail(read: () => Answer | undefined): Answer | undefined {
    try {
      return read();
    } catch (error) {
      this.fail(error);
      return undefined;
    }
  }

  private succeed(answer: Answer): void {
    const { onEnd } = this;
    this.onEnd = undefined;
    this.reader = undefined;
    onEnd?.(answer);
  }

  private fail(error: unknown): void {
    const { onEnd } = this;
    this.close();
    onEnd?.(undefined, error);
  }
}
