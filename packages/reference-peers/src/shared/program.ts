import { mkdir } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { KEY_BYTES } from '@perennial/wire/bridge';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Clock } from './clock.js';
import { lockFolder } from './folder-lock.js';
import { type Journal, openJournal } from './journal.js';
import { PeerError } from './peer-error.js';

/** What every reference program is started with. */
export interface ReferenceProgramOptions {
  /** Holds the journal. One program at a time. */
  readonly dataDir: string;
  /** 0: any port that is free. */
  readonly port: number;
  readonly host?: string;
  /** Shared with the service, 32 bytes. */
  readonly key: Uint8Array;
  readonly clock: Clock;
  /** GET /ledger and POST /control, from this machine alone. */
  readonly control?: boolean;
  readonly log?: Logger;
}

/** A reference program that runs. */
export interface ReferenceProgram {
  readonly url: string;
  /** Breaks off what is under way; the journal has everything that was answered. */
  stop(): Promise<void>;
}

export function requireKeyLength(key: Uint8Array): void {
  if (key.length !== KEY_BYTES) throw new PeerError(`the key must have ${KEY_BYTES} bytes`);
}

/** A journal in a folder that is locked until the journal is closed. */
export async function openLockedJournal(
  dataDir: string,
  fileName: string,
  replay: (entry: unknown) => void,
): Promise<Journal> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const unlock = await lockFolder(dataDir);
  const journal = await openJournal(path.join(dataDir, fileName), replay).catch(async (error: unknown) => {
    await unlock();
    throw error;
  });
  return {
    ...journal,
    async close() {
      await journal.close();
      await unlock();
    },
  };
}

/** Answers the address that the server listens on. Stops the program if it cannot listen. */
export async function listen(
  server: FastifyInstance,
  { host = '127.0.0.1', port }: ReferenceProgramOptions,
  stop: () => Promise<void>,
): Promise<string> {
  try {
    await server.listen({ host, port });
  } catch (error) {
    await stop();
    throw error;
  }
  const { port: taken } = server.server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${taken}`;
}
