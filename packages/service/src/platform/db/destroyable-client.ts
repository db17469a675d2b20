import { Socket } from 'node:net';
import pg from 'pg';

/** A connection whose socket can be destroyed at any time, whatever the driver is doing. */
export class DestroyableClient extends pg.Client {
  readonly #socket: Socket;

  constructor(config: pg.ClientConfig = {}) {
    const socket = new Socket();
    // A pool makes the password a hidden property, which the spread does not copy.
    super({ ...config, password: config.password, stream: () => socket });
    this.#socket = socket;
  }

  /** Sends nothing to the server, which may not read any more. Every statement that waits on the connection fails. */
  destroy(): void {
    this.#socket.destroy();
  }
}
