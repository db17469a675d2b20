import { Socket } from 'node:net';
import pg from 'pg';

/** A connection whose socket can be destroyed at any time, whatever the driver is doing. */
export class DestroyableClient extends pg.Client {
  readonly #socket: Socket;

  constructor(config: pg.ClientConfig = {}) {
    const socket = new Socket();
    // Passes the password explicitly: a pool makes it a hidden property, which a spread does not copy.
    super({ ...config, password: config.password, stream: () => socket });
    this.#socket = socket;
  }

  /** Closes the socket without notifying the server, which may no longer read. All pending statements fail. */
  destroy(): void {
    this.#socket.destroy();
  }
}
