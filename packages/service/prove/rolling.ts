import { rollingRestart } from '../test/support/rolling-restart.js';
import { withTemporaryDatabase } from './support/temporary-database.js';

const WHOLE = { callers: 16, drainSeconds: 5, checkMs: 1000 };
/** The callers pause between requests, so that nodes on a busy machine miss no health check. */
const SHORT = { callers: 3, pauseMs: 500, drainSeconds: 3, checkMs: 200 };

/**
 * npm run prove -- rolling [ROUNDS]: restarts each of three nodes behind haproxy ROUNDS times while 16 callers
 * continue. Uses deploy/haproxy/haproxy.cfg and production's delays. With --short each node is restarted once, with 3
 * callers and shorter delays.
 */
export default async function proveRolling(args: readonly string[]): Promise<void> {
  const say = (line: string) => process.stdout.write(`${line}\n`);
  const isShort = args[0] === '--short';
  const rounds = isShort ? 1 : Number(args[0] ?? 3);
  const figures = await withTemporaryDatabase((databaseUrl) =>
    rollingRestart({
      ...{ databaseUrl, haproxy: process.env['HAPROXY'] ?? 'haproxy', nodes: 3, rounds, log: say },
      ...(isShort ? SHORT : WHOLE),
    }),
  );
  const { requests, failures, seconds, servers } = figures;
  for (const failure of failures.slice(0, 20)) say(`failed: ${failure}`);
  const sum = (of: 'connectionErrors' | 'responseErrors' | 'retries') =>
    servers.reduce((total, server) => total + server[of], 0);
  say(`restarts               ${figures.restarts}`);
  say(`requests               ${requests} in ${seconds.toFixed(1)} s (${(requests / seconds).toFixed(0)} a second)`);
  say(`failed requests        ${failures.length}`);
  say(
    `refused under load     ${figures.refusedUnderLoad} (not begun within 2 s: more was asked than this machine can do)`,
  );
  say(`orders answered/stored ${figures.ordersAnswered}/${figures.ordersStored}`);
  say(`median, slowest        ${figures.medianMs.toFixed(1)} ms, ${figures.slowestMs.toFixed(0)} ms`);
  say(
    `haproxy: connection errors ${sum('connectionErrors')}, broken answers ${sum('responseErrors')}, retries ${sum('retries')}`,
  );
  const isProven =
    failures.length === 0 &&
    figures.restarts === rounds * servers.length &&
    servers.every((server) => server.requests > 0) &&
    figures.ordersAnswered === figures.ordersStored &&
    sum('responseErrors') === 0 &&
    (!isShort || sum('connectionErrors') + sum('retries') === 0);
  if (!isProven) process.exitCode = 1;
}
