import { BlockList, isIP, isIPv6 } from 'node:net';
import { type Fields, readFields } from '@perennial/wire/bridge';
import type { FastifyInstance, FastifyRequest } from 'fastify';

export interface LocalRoutes {
  ledger(): Promise<object>;
  /** What was done, or what is wrong with the call. */
  control(fields: Fields): Promise<object | string>;
}

/** GET /ledger and POST /control of a reference program, to the machine itself alone. */
export function localRoutes(app: FastifyInstance, { ledger, control }: LocalRoutes): void {
  app.register(async (scope) => {
    scope.addHook('onRequest', async (request, reply) => {
      if (!isLocal(request)) await reply.code(403).send({ error: 'only from the machine itself' });
    });
    scope.get('/ledger', () => ledger());
    scope.post('/control', async (request, reply) => {
      const fields = Buffer.isBuffer(request.body) ? readFields(request.body) : undefined;
      const done = await control(fields ?? {});
      return typeof done === 'string' ? reply.code(400).send({ error: done }) : done;
    });
  });
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** A dual-stack socket says ::ffff:127.0.0.1, which the list takes for the IPv4 address that it is. */
export function isLoopback(address: string | undefined): boolean {
  return address !== undefined && isIP(address) !== 0 && loopback.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** A proxy on this machine speaks for somebody else, and so does a browser that a foreign page is open in. */
function isLocal({ raw, headers }: FastifyRequest): boolean {
  const forSomebodyElse = ['origin', 'forwarded', 'x-forwarded-for'].some((name) => headers[name] !== undefined);
  return isLoopback(raw.socket.remoteAddress) && !forSomebodyElse;
}
