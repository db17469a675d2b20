import net from 'node:net';
import { PATH_PREFIX } from '@perennial/wire';
import type { ChannelClient } from './channel-client.js';
import { requestBytes } from './raw-http.js';

/** A caller that sends a request and reads the response only on demand. */
export interface SlowCaller {
  readonly socket: net.Socket;
  /** Reads the bytes that have arrived so far. */
  readSome(): Promise<void>;
  /** Reads the rest, up to the end of the connection or the last chunk. */
  readAll(): Promise<string>;
  hangUp(): void;
}

export interface SlowCallOptions {
  readonly requestId?: string;
  readonly version?: 'HTTP/1.0' | 'HTTP/1.1';
}

export async function slowCall(
  baseUrl: string,
  channel: ChannelClient,
  name: string,
  body: object,
  { requestId, version = 'HTTP/1.1' }: SlowCallOptions = {},
): Promise<SlowCaller> {
  const bytes = Buffer.from(JSON.stringify(body));
  const token = await channel.getToken();
  const headers = channel.signedHeaders(name, bytes, { token, ...(requestId === undefined ? {} : { requestId }) });
  const text = requestBytes(PATH_PREFIX + name, { ...headers, 'Content-Length': String(bytes.length) }, bytes);
  const { hostname, port } = new URL(baseUrl);
  const socket = net.connect({ host: hostname, port: Number(port) });
  socket.pause();
  // Ignores errors here, because a reader gets them too, and a reset while nobody reads is not a failure.
  socket.on('error', () => undefined);
  socket.write(text.toString('latin1').replace('HTTP/1.1', version), 'latin1');
  const chunks: Buffer[] = [];
  return {
    socket,
    async readSome() {
      if (socket.readableLength === 0) await new Promise((resolve) => socket.once('readable', resolve));
      chunks.push(socket.read());
    },
    readAll: () =>
      new Promise((resolve, reject) => {
        const text = () => Buffer.concat(chunks).toString();
        socket.on('error', reject);
        socket.on('end', () => resolve(text()));
        socket.on('data', (chunk) => {
          chunks.push(chunk);
          if (version === 'HTTP/1.1' && chunk.subarray(-5).toString() === '0\r\n\r\n') resolve(text());
        });
        socket.resume();
      }),
    hangUp: () => void socket.destroy(),
  };
}
