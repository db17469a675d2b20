import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * The memory that a chunk takes in addition to its bytes. It is counted too, because a body in tiny chunks takes more
 * memory than its bytes.
 */
const CHUNK_BYTES = 256;

/**
 * Limits the memory for the bodies of requests in flight. Anybody who reaches the server can send bodies, and leave
 * them unfinished. One address gets at most half of the memory, so that it alone cannot fill the memory.
 */
export class BodyRoom {
  readonly #bytes: number;
  readonly #usedBy = new Map<string, number>();
  #used = 0;

  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  /**
   * Reads a body. Returns 'too-large' if it exceeds `limit`, 'no-room' if the memory is in use, and 'cut-off' if the
   * connection ended. The memory counts as used until the response has ended.
   */
  read(
    request: IncomingMessage,
    response: ServerResponse | undefined,
    limit: number,
  ): Promise<Buffer | 'too-large' | 'no-room' | 'cut-off'> {
    const address = request.socket.remoteAddress ?? '';
    let length = 0;
    let taken = 0;
    let chunks: Buffer[] = [];
    response?.once('close', () => this.#change(address, -taken));
    return new Promise((resolve) => {
      const refuse = (why: 'too-large' | 'no-room') => {
        chunks = [];
        request.removeAllListeners('data');
        // Reads and drops the rest of the body. Otherwise the client might not read the refusal.
        request.resume();
        if (response) response.shouldKeepAlive = false;
        resolve(why);
      };
      request
        .on('data', (chunk: Buffer) => {
          const bytes = chunk.length + CHUNK_BYTES;
          length += chunk.length;
          if (length > limit) return refuse('too-large');
          if (!this.#hasRoom(address, bytes)) return refuse('no-room');
          taken += bytes;
          this.#change(address, bytes);
          chunks.push(chunk);
        })
        .on('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)))
        .on('error', () => resolve('cut-off'));
    });
  }

  #hasRoom(address: string, bytes: number): boolean {
    return this.#used + bytes <= this.#bytes && (this.#usedBy.get(address) ?? 0) + bytes <= this.#bytes / 2;
  }

  #change(address: string, bytes: number): void {
    this.#used += bytes;
    const left = (this.#usedBy.get(address) ?? 0) + bytes;
    if (left === 0) this.#usedBy.delete(address);
    else this.#usedBy.set(address, left);
  }
}
