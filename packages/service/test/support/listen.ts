import { once } from 'node:events';
import type http from 'node:http';
import type net from 'node:net';
import { onTestFinished } from 'vitest';

/** Starts a server and returns its port. The server is closed when the test has finished. */
export async function listen(server: net.Server & Partial<Pick<http.Server, 'closeAllConnections'>>): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections?.();
    server.close();
  });
  return (server.address() as net.AddressInfo).port;
}
