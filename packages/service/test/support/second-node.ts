import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { openDatabase } from '../../src/platform/db/database.js';
import { createService, type ServiceDeps } from '../../src/service.js';
import { type ChannelClient, channelClient } from './channel-client.js';
import { nodeDeps, type TestService } from './service.js';

export interface Node {
  readonly baseUrl: string;
  /** Returns the number of open connections. */
  connections(): Promise<number>;
  /** Returns a client of the same channel that calls this node. */
  client(channel: ChannelClient): ChannelClient;
  close(): Promise<void>;
}

/**
 * Starts another node of the installation. It has its own memory and connections, and the same database, master key and
 * clock.
 */
export async function anotherNode(service: TestService, more: Partial<ServiceDeps> = {}): Promise<Node> {
  const database = openDatabase({ url: service.fresh.url, pool: 8, name: 'test node' });
  const { vault, clock } = service;
  const node = createService({ database, vault, clock, ...nodeDeps(more) });
  await node.server.listen({ host: '127.0.0.1', port: 0 });
  const baseUrl = `http://127.0.0.1:${(node.server.server.address() as AddressInfo).port}`;
  return {
    baseUrl,
    client: ({ credentials }) => channelClient(baseUrl, credentials, () => service.clock.now()),
    connections: () => promisify(node.server.server.getConnections.bind(node.server.server))(),
    async close() {
      await node.stop();
      await database.close();
    },
  };
}
