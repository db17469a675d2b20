import net from 'node:net';
import { vi } from 'vitest';

/** All that can be dialled while a test runs. */
export interface TestNetwork {
  /** What was dialled, in order: `203.0.113.7:443`. A name here would mean that Node looked it up once more. */
  readonly dialled: readonly string[];
  /** Every socket that was dialled with. */
  readonly sockets: readonly net.Socket[];
  /** From now on somebody is there: this port of 127.0.0.1, or nobody who answers at all. */
  route(address: string, to: number | 'silence'): void;
  restore(): void;
}

/**
 * Puts addresses of the public internet on this machine. It stands where a program hands its connection to the system, so a
 * test sees where a connection really goes. 127.0.0.1 can be dialled as ever, and whatever else has no route is unreachable.
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
    // Node hands its own calls on as an array of options and callback.
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
