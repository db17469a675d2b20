import net from 'node:net';
import { vi } from 'vitest';

/** The network that the process can reach while a test runs. */
export interface TestNetwork {
  /**
   * The addresses that were connected to, such as `203.0.113.7:443`. A name here would mean that Node resolved it
   * again.
   */
  readonly dialled: readonly string[];
  /** Every socket that was connected. */
  readonly sockets: readonly net.Socket[];
  /** Routes this address to a port of 127.0.0.1, or to a host that never answers. */
  route(address: string, to: number | 'silence'): void;
  restore(): void;
}

/**
 * Maps addresses of the public internet to this machine. Replaces Node's connect call, so that a test sees where a
 * connection really goes. 127.0.0.1 can be reached as usual; every other address without a route is unreachable.
 */
export function testNetwork(): TestNetwork {
  const routes = new Map<string, number | 'silence'>();
  const dialled: string[] = [];
  const sockets: net.Socket[] = [];
  const connect = net.Socket.prototype.connect as (this: net.Socket, ...args: unknown[]) => net.Socket;
  const spy = vi.spyOn(net.Socket.prototype, 'connect').mockImplementation(function (
    this: net.Socket,
    ...args: unknown[]
  ) {
    // Node's own code passes one array with the options and the callback.
    const [options, listener] = (Array.isArray(args[0]) ? args[0] : args) as [net.TcpNetConnectOpts, unknown];
    const { host = 'localhost', port } = options;
    dialled.push(`${host}:${port}`);
    sockets.push(this);
    if (typeof listener === 'function') this.once('connect', listener as () => void);
    const to = host === '127.0.0.1' ? port : routes.get(host);
    if (to === 'silence') return this;
    if (to === undefined) {
      const error = Object.assign(new Error(`no route to ${host}`), { code: 'EHOSTUNREACH' });
      process.nextTick(() => this.destroy(error));
      return this;
    }
    return connect.call(this, { ...options, host: '127.0.0.1', port: to });
  } as never);
  return {
    dialled,
    sockets,
    route: (address, to) => void routes.set(address, to),
    restore: () => spy.mockRestore(),
  };
}
