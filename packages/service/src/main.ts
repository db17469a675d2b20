import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { systemClock } from './clock.js';
import { type OpenedDatabase, openFromSettings } from './db/open.js';
import { createLog } from './log.js';
import { provisionDemo } from './operator/demo.js';
import { PlainError } from './plain-error.js';
import { createService, type Service } from './service.js';
import { readSettings, type Settings } from './settings.js';

/** What is told to people goes to stderr, so that stdout is the log and nothing else. */
const say = (line: string) => process.stderr.write(`${line}\n`);

// Whoever read our output may be gone; that is no reason to leave the database without a stop.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

/** Composition root: settings, database, service, signals. */
async function main(): Promise<void> {
  const settings = readSettings();
  const log = createLog(settings.logLevel, undefined, {
    node: settings.nodeId,
    format: settings.logFormat ?? (process.stdout.isTTY ? 'pretty' : 'json'),
  });
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      // Asked twice is asked urgently. The database recovers by itself at the next start.
      if (stopping.signal.aborted) process.exit(1);
      stopping.abort();
    });
  }
  const opened = await openFromSettings(settings, {
    role: 'service',
    log: (line) => say(`  ${line}`),
    onIdleError: (err) => log.warn({ err, cause: 'idle connections to the database break' }, 'a connection broke'),
    signal: stopping.signal,
    onTakenOver: (error) => {
      say(`perennial: ${error.message}`);
      stopping.abort();
    },
  });
  let publicUrl = settings.publicUrl ?? '';
  const localCallbacks = settings.environment === 'sandbox' && settings.databaseUrl === undefined;
  const service = createService({
    ...settings,
    ...opened,
    clock: systemClock,
    log,
    publicUrl: () => publicUrl,
    redeemUrl: () => settings.redeemUrl ?? publicUrl,
    localCallbacks,
  });
  try {
    publicUrl = await listen(service, settings);
    banner(settings, publicUrl, await demo(settings, opened, publicUrl));
    log.info({ environment: settings.environment, baseUrl: publicUrl }, 'serving');
    if (!stopping.signal.aborted) await once(stopping.signal, 'abort');
    say('Stopping: running requests are finished first. Press Ctrl-C again to stop at once.');
  } finally {
    await service.stop();
    await opened.close();
  }
  log.info('stopped');
}

async function listen(service: Service, { host, port, publicUrl }: Settings): Promise<string> {
  await service.server.listen({ host, port });
  const { port: taken } = service.server.server.address() as AddressInfo;
  return publicUrl ?? `http://${host.includes(':') ? `[${host}]` : host}:${taken}`;
}

async function demo(settings: Settings, opened: OpenedDatabase, baseUrl: string): Promise<string | undefined> {
  if (settings.environment !== 'sandbox') return undefined;
  const operator = { ...opened, environment: settings.environment, actor: 'service:first-start' };
  return provisionDemo(operator, { dataDir: settings.dataDir, baseUrl });
}

function banner(settings: Settings, baseUrl: string, demoFile: string | undefined): void {
  const database = settings.databaseUrl === undefined ? `embedded PostgreSQL in ${settings.dataDir}` : 'DATABASE_URL';
  const rows = [
    ['Interface', `${baseUrl}/openapi/v1/`],
    ['Operations', `${baseUrl}/healthz  /readyz  /metrics`],
    ['Database', database],
    ...(demoFile === undefined ? [] : [['Demo channel', demoFile]]),
  ];
  say(`\nPerennial is ready (${settings.environment})\n`);
  for (const [name = '', value = ''] of rows) say(`  ${name.padEnd(14)}${value}`);
  if (demoFile !== undefined) {
    const shown = path.relative(process.cwd(), demoFile);
    say(`\n  First order, from another terminal:\n\n    node examples/subscriptions.mjs ${shown}\n`);
  }
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    if (error instanceof Error && error.name === 'AbortError') process.exit(0);
    say(`perennial: ${oneLine(error)}`);
    process.exit(1);
  },
);

/** Anything that is not meant for people is a bug, and shows where. */
function oneLine(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof PlainError) return error.message;
  const code = 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE' || code === 'EACCES') return `cannot listen: ${error.message}; set PORT to another one`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') return `cannot listen: ${error.message}; check HOST`;
  return error.stack ?? error.message;
}
