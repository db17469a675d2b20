import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { realpath, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { PeerError } from './peer-error.js';

/**
 * Two institutions on one journal would debit the same number twice, and two suppliers hand out two codes for it. A
 * listening socket is a lock that ends with its process, even after kill -9. It stands in the temporary folder because the
 * length of its path is limited.
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  const file = await lockFilePath(folder);
  const server = (await tryListen(file)) ?? (await takeOver(file));
  if (server === undefined) throw new PeerError(`${folder} is in use by another program of this kind`);
  server.unref();
  return async () => {
    await new Promise((resolve) => server.close(resolve));
  };
}

/** Stays behind after a kill -9, and is taken over by the next start. */
export async function lockFilePath(folder: string): Promise<string> {
  const name = createHash('sha256')
    .update(await realpath(folder))
    .digest('hex');
  return path.join(os.tmpdir(), `perennial-institution-${name.slice(0, 24)}.sock`);
}

async function takeOver(file: string): Promise<Server | undefined> {
  if (await isHeld(file)) return undefined;
  await rm(file, { force: true });
  return tryListen(file);
}

async function tryListen(file: string): Promise<Server | undefined> {
  const server = createServer((socket) => socket.destroy());
  try {
    server.listen(file);
    await once(server, 'listening');
    return server;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return undefined;
    throw error;
  }
}

async function isHeld(file: string): Promise<boolean> {
  const socket = connect(file);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
