import { Socket } from 'node:net';
import pg from 'pg';

/** A connection over a socket of our own, which can be destroyed whatever the driver is doing. */
export class DestroyableClient extends pg.Client {
  readonly #socket: Socket;

  constructor(config: pg.ClientConfig = {}) {
    const socket = new Socket();
    // A pool hides the password from whoever lists its settings, and so from the spread.
    super({ ...config, password: config.password, stream: () => socket });
    this.#socket = socket;
  }

  /** Without a word to the server, which does not listen. Everything that waits on the connection fails with it. */
  destroy(): void {
    this.#socket.destroy();
  }
}
