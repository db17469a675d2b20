import { BlockList, isIP, isIPv6 } from 'node:net';
import { type Fields, readFields } from '@perennial/wire/bridge';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Journal } from './journal.js';

export interface LocalRoutes<Rule> {
  readonly journal: Journal;
  /** Everything that the program has done so far. */
  readonly describeLedger: () => object;
  readonly faults: { set(rule: Rule): void; clear(): void };
  /** A rule as a control call gives it, or a text that says what is wrong with it. */
  readonly readFaultRule: (fields: Fields) => Rule | string;
  /** Every other control call: what was done, or a text that says what is wrong with the call. */
  readonly control: (fields: Fields) => Promise<object | string>;
}

/** GET /ledger and POST /control of a reference program: unsigned, and to the machine itself alone. */
export function addLocalRoutes<Rule extends object>(app: FastifyInstance, routes: LocalRoutes<Rule>): void {
  const { journal, describeLedger, faults, readFaultRule, control } = routes;

  async function runControl(fields: Fields): Promise<object | string> {
    switch (fields['action']) {
      case 'set': {
        const rule = readFaultRule(fields);
        if (typeof rule === 'string') return rule;
        faults.set(rule);
        return { set: rule };
      }
      case 'clear':
        faults.clear();
        return { cleared: true };
      default:
        return control(fields);
    }
  }

  app.register(async (scope) => {
    scope.addHook('onRequest', async (request, reply) => {
      if (!isLocal(request)) await reply.code(403).send({ error: 'only from the machine itself' });
    });
    scope.get('/ledger', async () => {
      const ledger = describeLedger();
      // What is shown is on the disk.
      await journal.untilSynced();
      return ledger;
    });
    scope.post('/control', async (request, reply) => {
      const fields = Buffer.isBuffer(request.body) ? readFields(request.body) : undefined;
      const done = await runControl(fields ?? {});
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

/** A proxy on this machine calls for another machine, and a browser may call for a page of another site. */
function isLocal({ raw, headers }: FastifyRequest): boolean {
  const isForAnother = ['origin', 'forwarded', 'x-forwarded-for'].some((name) => headers[name] !== undefined);
  return isLoopback(raw.socket.remoteAddress) && !isForAnother;
}
