import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { EmbeddedPostgresError, errorCode } from './error.js';
import { type Folder, openFolder } from './folder.js';
import { findIdentity, type Identity, type Internals } from './identity.js';
import { checkVersion, ensureCluster, SERVER_USER } from './initdb.js';
import { findPostmaster, StartFailed, startServer, stopServer } from './postmaster.js';
import {
  connectToServer,
  DATABASE,
  ensureDatabase,
  isTemporary,
  type Role,
  releaseLocks,
  takeLocks,
} from './server-locks.js';

export interface EmbeddedDatabase {
  /** The URL: postgres://perennial:PASSWORD@127.0.0.1:PORT/perennial. It contains the password: do not log it. */
  readonly url: string;
  /** Ends this process's use of the server. If no other process uses it, stops it and waits until it has ended. */
  release(): Promise<void>;
}

export interface EmbeddedOptions {
  readonly dataDir: string;
  /** `service` or `tool`. A folder has at most one service, and any number of tools, even without a service. */
  readonly role: Role;
  /** Receives messages for operators. */
  readonly log: (line: string) => void;
  /**
   * A text such as "pid 123, port 8080". If a second service tries to use the folder, its error message names this
   * service by this text.
   */
  readonly description?: string;
  /** Called if, after a crash of the server, another service took the folder first. This service should then exit. */
  readonly onTakenOver?: (error: FolderInUse) => void;
}

/** Thrown if another service uses the folder. The message is one line for operators. */
export class FolderInUse extends EmbeddedPostgresError {}

/**
 * The number of temporary failures after which opening fails. At any other error it fails at once. The pauses between
 * the attempts add up to about 3 s. If the process has already opened the database once, it logs the reason in both
 * cases and continues to retry.
 */
const MAX_FAILURES = 6;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;

export async function openEmbedded(options: EmbeddedOptions, internals: Internals = {}): Promise<EmbeddedDatabase> {
  const keeper = new ServerKeeper(await openFolder(options.dataDir), options, internals);
  await keeper.open();
  return keeper;
}

class ServerKeeper implements EmbeddedDatabase {
  readonly #folder: Folder;
  readonly #options: EmbeddedOptions;
  readonly #internals: Internals;
  readonly #released = new AbortController();
  #identity: Identity | undefined;
  #client: pg.Client | undefined;
  /** The port. It stays the same after opening, so that the service's connections can reconnect. */
  #port: number | undefined;
  #recovery: Promise<void> = Promise.resolve();
  #release: Promise<void> | undefined;

  constructor(folder: Folder, options: EmbeddedOptions, internals: Internals) {
    this.#folder = folder;
    this.#options = options;
    this.#internals = internals;
  }

  get url(): string {
    return `postgres://${SERVER_USER}:${this.#folder.password}@127.0.0.1:${this.#port}/${DATABASE}`;
  }

  async open(): Promise<void> {
    await this.#enter(this.#options.log, (error) => {
      throw error;
    });
  }

  release(): Promise<void> {
    this.#release ??= this.#leave();
    return this.#release;
  }

  /**
   * Finds or starts the server and takes the locks. Retries until it succeeds. Passes lasting errors to `onLasting`.
   */
  async #enter(log: (line: string) => void, onLasting: (error: Error) => void): Promise<void> {
    for (let failures = 0; ; await this.#pause(failures)) {
      try {
        const port = await this.#findOrStart(failures, log);
        // If the port is undefined, the server is recovering, starting or stopping. This may take any time and is not a
        // failure.
        if (port === undefined) continue;
        const client = await this.#join(port);
        this.#port = port;
        this.#client = client;
        client.once('end', () => {
          if (this.#client === client) this.#lost();
        });
        return;
      } catch (error) {
        this.#released.signal.throwIfAborted();
        if (errorCode(error) === '57P03') continue; // a live server that is not ready yet, or shutting down
        failures += 1;
        const mayPass = isTemporary(error) || error instanceof StartFailed;
        if (!mayPass || failures >= MAX_FAILURES) onLasting(this.#toReadable(error));
      }
    }
  }

  /**
   * Returns the port of the running server. If none is running, starts it first. Returns undefined while it is not
   * ready.
   */
  async #findOrStart(failures: number, log: (line: string) => void): Promise<number | undefined> {
    const running = await findPostmaster(this.#folder);
    if (running !== undefined) {
      if (!running.isReady) return undefined;
      if (this.#port === undefined || this.#port === running.port) return running.port;
      // A tool started this server while our port was taken. When the tool stops the server, we can start it again on
      // our port.
      throw new EmbeddedPostgresError(`the database listens on port ${running.port} instead of ${this.#port}`);
    }
    this.#identity ??= await findIdentity(this.#folder, this.#internals);
    const { user } = this.#identity;
    await ensureCluster(this.#folder, this.#identity, log);
    await checkVersion(this.#folder, this.#identity);
    if (failures === 0) log(`starting the database (${user ? `under uid ${user.uid}` : 'as this user'})`);
    const port = this.#port ?? choosePort(this.#folder, failures);
    await startServer(this.#folder, this.#identity, port, this.#released.signal);
    return port;
  }

  async #join(port: number): Promise<pg.Client> {
    const { role, description, dataDir } = this.#options;
    const name = `perennial ${role} ${description ?? `pid ${process.pid}`}`;
    const client = await connectToServer(this.#folder, port, name);
    try {
      await ensureDatabase(client);
      const holder = await takeLocks(client, role);
      if (holder === undefined) return client;
      // The other service may have ended just now and left the server running because of us: then we have to stop it.
      await this.#depart(client);
      throw new FolderInUse(
        `the data folder ${dataDir} is in use by another service (${holder}): stop that one, or choose another DATA_DIR`,
      );
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
  }

  #lost(): void {
    this.#client = undefined;
    if (this.#released.signal.aborted) return;
    this.#options.log('the database has gone away, bringing it back');
    this.#recovery = this.#recover();
  }

  /** Brings the server back. Retries as long as the service runs: a full disk, for example, may get room again. */
  async #recover(): Promise<void> {
    let told = '';
    try {
      await this.#enter(
        () => undefined,
        (error) => {
          const { message } = error;
          if (message !== told) this.#options.log(`the database has not recovered yet, retrying: ${message}`);
          told = message;
          if (error instanceof FolderInUse) this.#options.onTakenOver?.(error);
        },
      );
      this.#options.log('database restarted');
    } catch (error) {
      if (!this.#released.signal.aborted) throw error;
    }
  }

  async #leave(): Promise<void> {
    this.#released.abort(new Error('the database was released'));
    await this.#recovery;
    const client = this.#client;
    this.#client = undefined;
    if (client !== undefined) await this.#depart(client);
    // This process was released during a recovery and has no locks, so it stops the server. Another process that needs
    // the server starts it again.
    else await stopServer(this.#folder);
  }

  /** Releases our locks, and stops the server if no other process uses it. */
  async #depart(client: pg.Client): Promise<void> {
    try {
      if (await releaseLocks(client)) await stopServer(this.#folder);
    } catch (error) {
      if (!isTemporary(error)) throw error; // otherwise it has already gone, as intended
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  async #pause(failures: number): Promise<void> {
    const milliseconds = Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS);
    await pause(milliseconds, undefined, { signal: this.#released.signal });
  }

  #toReadable(error: unknown): Error {
    if (errorCode(error) === '28P01') {
      return new EmbeddedPostgresError(
        `the database in ${this.#folder.data} refuses the password in ${this.#folder.dataDir}/postgres-password: restore that file from a backup`,
      );
    }
    return error instanceof Error ? error : new Error(String(error));
  }
}

/**
 * Returns the same port for a folder at each start. After each failure returns a different port, because the previous
 * port may be taken. All these ports are below the ephemeral ports: otherwise a reconnecting client could take the
 * server's port as its local port.
 */
function choosePort({ dataDir }: Folder, failures: number): number {
  const hash = createHash('sha256').update(`${dataDir} ${failures}`).digest().readUInt32BE();
  return 20_000 + (hash % 12_000);
}
