import net from 'node:net';
import { describe, expect, it } from 'vitest';
import { ofEachTest } from '../orders/stage-of-file.js';
import { send } from '../support/channel-client.js';
import { installation } from '../support/installation.js';
import { type Running, serviceUrl, until } from '../support/processes.js';
import { network } from '../support/slow-network.js';

/** Tests a start during which a connection breaks at a chosen moment, as in a failover. */
const fresh = ofEachTest(() => installation());
const between = ofEachTest(() => network(fresh.url));
const startNode = (more: Record<string, string> = {}) => fresh.node({ DATABASE_URL: between.url, ...more });

interface Line {
  readonly level: string;
  readonly msg: string;
  readonly cause?: string;
}
const logLines = (running: Running): Line[] =>
  running
    .stdout()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));

describe('a connection that breaks while the node', () => {
  it.each([
    ['reads the accounts of the console', 'from people p where $1::text is null'],
    ['creates the demo channel', 'pg_advisory_xact_lock'],
  ])('%s is logged, and the node serves', async (_moment, statement) => {
    const broken = between.breakAt(statement);
    const running = startNode({ DATABASE_POOL: '8' });
    const url = await serviceUrl(running);
    await broken;
    expect((await send(url, 'GET', '/readyz', {}, Buffer.alloc(0))).status).toBe(200);
    await until('the line that it serves', () => logLines(running).some(({ msg }) => msg === 'serving'));
    expect(logLines(running)).toContainEqual(
      expect.objectContaining({ level: 'warn', msg: expect.stringContaining('the node still serves') }),
    );
    running.child.kill('SIGTERM');
    expect(await running.exited).toBe(0);
  });

  it.each([
    ['looks at the installation', 'from installation'],
    ['looks at its sequences', 'pg_sequence'],
  ])('%s makes it wait, and then it serves', async (_moment, statement) => {
    const broken = between.breakAt(statement);
    const running = startNode({ DATABASE_POOL: '8' });
    await serviceUrl(running);
    await broken;
    expect(logLines(running)).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        msg: 'waiting; not serving yet',
        cause: expect.stringMatching(/^the database of DATABASE_URL cannot be reached \(/),
      }),
    );
    running.child.kill('SIGTERM');
    expect(await running.exited).toBe(0);
  });
});

it('an error that ends a node is in the log, not only on stderr', async () => {
  const taken = net.createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => taken.once('listening', resolve));
  const { port } = taken.address() as net.AddressInfo;
  const running = startNode({ PORT: String(port) });
  expect(await running.exited).toBe(1);
  taken.close();
  expect(running.stderr()).toMatch(/^perennial: cannot listen: /m);
  expect(logLines(running)).toContainEqual(
    expect.objectContaining({
      level: 'fatal',
      msg: 'this node stops because of an error',
      err: expect.objectContaining({ message: expect.stringMatching(/^cannot listen: /) }),
    }),
  );
});
