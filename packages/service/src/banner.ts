import path from 'node:path';
import type { Listening } from './listen.js';
import type { Settings } from './platform/settings.js';

/** Where the console is, unless an operator has set it: on this machine, since no proxy of deploy/ leads to it. */
export const localConsoleUrl = ({ consoleUrl }: Settings, { url, console }: Listening): string =>
  consoleUrl ?? `${console ?? url}/console`;

export interface Ready {
  readonly publicUrl: string;
  readonly operations: string;
  readonly consoleUrl: string;
  /** Whether anybody can sign in to the console. */
  readonly hasPeople: boolean;
  readonly demoFile: string | undefined;
}

/** Operations and the console are shown with their address on this machine: they should not be reachable under PUBLIC_URL. */
export function bannerLines(
  settings: Settings,
  { publicUrl, operations, consoleUrl, hasPeople, demoFile }: Ready,
): string[] {
  const database = settings.databaseUrl === undefined ? `embedded PostgreSQL in ${settings.dataDir}` : 'DATABASE_URL';
  const rows = [
    ['Interface', `${publicUrl}/openapi/v1/`],
    ...(settings.developers === 'on' ? [['Developers', `${publicUrl}/developers`]] : []),
    ...(settings.console === 'on' ? [['Console', consoleUrl]] : []),
    ['Operations', `${operations}/readyz  /healthz  /metrics`],
    ['Database', database],
    ...(settings.readsOnly ? [['Engine', 'off: only reads are served, and nothing is done without being asked']] : []),
    ...(demoFile === undefined ? [] : [['Demo channel', demoFile]]),
  ];
  const lines = [`\nPerennial is ready (${settings.environment})\n`];
  for (const [name = '', value = ''] of rows) lines.push(`  ${name.padEnd(14)}${value}`);
  if (settings.console === 'on' && !hasPeople) {
    lines.push('\n  To sign in to the console, make an account from another terminal:\n');
    lines.push('    npx perennial operator create NAME --role admin');
  }
  if (demoFile !== undefined) {
    const shown = path.relative(process.cwd(), demoFile);
    lines.push(`\n  First order, from another terminal:\n\n    node examples/first-order.mjs ${shown}\n`);
  }
  return lines;
}
