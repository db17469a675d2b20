import { dirname } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { locateBinaries } from './binaries.js';
import { EmbeddedPostgresError } from './error.js';
import { errorCode, messageOf } from './files.js';
import { type Folder, openFolder, rememberPort } from './folder.js';
import { createOwnIdentity, findIdentityForRoot, type Identity } from './identity.js';
import { checkVersion, ensureCluster, removeHalfMade, SERVER_USER } from './initdb.js';
import { choosePort, findPostmaster, startServer, stopServer } from './postmaster.js';
import {
  connectToServer,
  DATABASE,
  ensureDatabase,
  isTemporary,
  type Role,
  releaseLocks,
  takeLocks,
} from './server-locks.js';
import { chooseServerUser } from './server-user.js';

export interface EmbeddedDatabase {
  /** postgres://perennial:PASSWORD@127.0.0.1:PORT/perennial. Holds the password: not for logs. */
  readonly url: string;
  /** Ends the use of the server. The last user stops the server; then this resolves when the server has ended. */
  release(): Promise<void>;
}

export interface EmbeddedOptions {
  readonly dataDir: string;
  /** One service for each folder; any number of tools, beside it or without it. */
  readonly role: Role;
  /** Lines for people. */
  readonly log: (line: string) => void;
  /** What a second service is told about this one, e.g. "pid 123, port 8080". */
  readonly description?: string;
  /** Called when another service took the folder after a crash, before this one was back: this one should end. */
  readonly onTakenOver?: (error: FolderInUse) => void;
}

/** For tests: what the launcher otherwise finds out by itself. */
export interface Internals {
  readonly sharedPlaces?: readonly string[];
  readonly native?: string;
}

/** Its message is the one line to show. */
export class FolderInUse extends EmbeddedPostgresError {}

/** How long opening goes on without a sign of a live server. */
const MAX_SILENCE_MS = 60_000;
const START_ATTEMPTS = 3;
const BACKOFF = { first: 200, longest: 5_000 };

export async function openEmbedded(options: EmbeddedOptions, internals: Internals = {}): Promise<EmbeddedDatabase> {
  const folder = await openFolder(options.dataDir);
  await removeHalfMade(folder);
  const keeper = new ServerKeeper(folder, options, internals);
  await keeper.open();
  return keeper;
}

class ServerKeeper implements EmbeddedDatabase {
  readonly #folder: Folder;
  readonly #options: EmbeddedOptions;
  readonly #internals: Internals;
  readonly #released = new AbortController();
  #identity: Promise<Identity> | undefined;
  #client: pg.Client | undefined;
  /** Does not change once it is open: the service's connections reconnect to the same port. */
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
    await this.#enter(this.#options.log);
  }

  release(): Promise<void> {
    this.#release ??= this.#leave();
    return this.#release;
  }

  /** From nothing, a stopped server or a running one to a connection that holds our locks. */
  async #enter(log: (line: string) => void): Promise<void> {
    let client: pg.Client | undefined;
    const patience = new Deadline(MAX_SILENCE_MS);
    while (client === undefined) {
      const port = await this.#reachServer(log, patience);
      try {
        client = await this.#joinAt(port);
        this.#port = port;
      } catch (error) {
        if (!isTemporary(error)) throw this.#readable(error);
        // 57P03 is a live server that is not ready yet, or not any more.
        if (errorCode(error) === '57P03') patience.restart();
        else patience.throwIfOver(error);
        await this.#pause(50);
      }
    }
    const held = client;
    this.#client = held;
    held.once('end', () => {
      if (this.#client === held) this.#lost();
    });
  }

  async #joinAt(port: number): Promise<pg.Client> {
    const { role, description, dataDir } = this.#options;
    const name = `perennial ${role} ${description ?? `pid ${process.pid}`}`;
    const client = await connectToServer(this.#folder, port, name);
    try {
      await ensureDatabase(client);
      const joined = await takeLocks(client, role);
      if (joined === true) return client;
      const holder = joined.holder.replace(/^perennial service /, '');
      // The other service may have left at this moment and counted us as a user: then we have to stop the server.
      await this.#depart(client);
      throw new FolderInUse(
        `the data folder ${dataDir} is in use by another service (${holder}): stop that one, or choose another DATA_DIR`,
      );
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
  }

  /** The port of a server that says it is ready; starts one where there is none. */
  async #reachServer(log: (line: string) => void, patience: Deadline): Promise<number> {
    let failures = 0;
    let waiting = false;
    for (;;) {
      this.#released.signal.throwIfAborted();
      const running = await findPostmaster(this.#folder);
      if (running?.status === 'ready' && running.port !== undefined) {
        if (this.#port === undefined || this.#port === running.port) return running.port;
        // Started by a tool while our port was taken; it ends with that tool, and then our port is free again.
        throw new EmbeddedPostgresError(`it listens on port ${running.port} and not on ${this.#port}`);
      }
      if (running !== undefined) {
        // It is recovering from a crash, starting or stopping, which may take any time.
        patience.restart();
        await this.#pause(25);
        continue;
      }
      await ensureCluster(this.#folder, () => this.#runAs(), log);
      const identity = await this.#runAs();
      await checkVersion(this.#folder, identity);
      log(`starting the database (${identity.description})`);
      const port = this.#port ?? (await choosePort(this.#folder));
      const started = await startServer(this.#folder, identity, port, this.#released.signal);
      if (started.state === 'ready') {
        // Only a convenience: a full disk is no reason to fail.
        await rememberPort(this.#folder, port).catch(() => undefined);
        continue;
      }
      if (started.state === 'failed' || started.state === 'port-taken') {
        failures += 1;
        if (failures >= START_ATTEMPTS) {
          throw new EmbeddedPostgresError(`the database does not start: ${started.reason} (see ${this.#folder.log})`);
        }
      }
      if (started.state === 'rival' && !waiting) {
        log('waiting for another process that has the database');
        waiting = true;
      }
      patience.throwIfOver(
        new EmbeddedPostgresError(`the database in ${this.#folder.data} is held by another process`),
      );
      await this.#pause(100);
    }
  }

  #runAs(): Promise<Identity> {
    if (this.#identity === undefined) {
      this.#identity = this.#findIdentity();
      // After a failure the next call tries again: what was missing may be there then.
      this.#identity.catch(() => {
        this.#identity = undefined;
      });
    }
    return this.#identity;
  }

  async #findIdentity(): Promise<Identity> {
    const { native, sharedPlaces } = this.#internals;
    const binaries = await locateBinaries(process.platform, process.arch, native);
    if (process.getuid?.() !== 0) return createOwnIdentity(binaries);
    const serverUser = await chooseServerUser(this.#folder);
    return findIdentityForRoot({ binaries, serverUser, parent: dirname(this.#folder.data), sharedPlaces });
  }

  #lost(): void {
    this.#client = undefined;
    if (this.#released.signal.aborted) return;
    this.#options.log('the database has gone away, bringing it back');
    this.#recovery = this.#recover();
  }

  /** Never gives up while the service runs: a full disk, for example, keeps PostgreSQL from starting until there is room. */
  async #recover(): Promise<void> {
    let told = '';
    for (let delay = BACKOFF.first; ; delay = Math.min(delay * 2, BACKOFF.longest)) {
      try {
        await this.#enter(() => undefined);
        this.#options.log('database restarted');
        return;
      } catch (error) {
        if (this.#released.signal.aborted) return;
        const reason = messageOf(error);
        if (reason !== told) this.#options.log(`the database is not back yet, still trying: ${reason}`);
        told = reason;
        if (error instanceof FolderInUse) this.#options.onTakenOver?.(error);
      }
      try {
        await this.#pause(delay);
      } catch {
        return;
      }
    }
  }

  async #leave(): Promise<void> {
    this.#released.abort(new Error('the database was released'));
    await this.#recovery;
    const client = this.#client;
    this.#client = undefined;
    if (client !== undefined) {
      await this.#depart(client);
      return;
    }
    // Released during a recovery: another user that needs the server starts it again.
    const running = await findPostmaster(this.#folder);
    if (running !== undefined) await stopServer(this.#folder, running);
  }

  /** Releases our locks, and stops the server if no other user is left. */
  async #depart(client: pg.Client): Promise<void> {
    try {
      if (await releaseLocks(client)) {
        const running = await findPostmaster(this.#folder);
        if (running !== undefined) await stopServer(this.#folder, running);
      }
    } catch (error) {
      if (!isTemporary(error)) throw error; // else it went away by itself, which is what we wanted
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  #pause(milliseconds: number): Promise<void> {
    return pause(milliseconds, undefined, { signal: this.#released.signal });
  }

  #readable(error: unknown): unknown {
    if (typeof error === 'object' && error !== null && 'code' in error && error.code === '28P01') {
      return new EmbeddedPostgresError(
        `the database in ${this.#folder.data} refuses the password in ${this.#folder.dataDir}/postgres-password`,
      );
    }
    return error;
  }
}

/** Limits the time without a sign of a live server. */
class Deadline {
  readonly #limit: number;
  #since = performance.now();

  constructor(limit: number) {
    this.#limit = limit;
  }

  restart(): void {
    this.#since = performance.now();
  }

  /** Throws what went wrong last once the time is up. */
  throwIfOver(error: unknown): void {
    if (performance.now() - this.#since > this.#limit) throw error;
  }
}
