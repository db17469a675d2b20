import path from 'node:path';
import type { Listening } from './listen.js';
import type { Settings } from './platform/settings.js';

/**
 * Returns the console's URL. The default is an address on this machine, because the proxies of deploy/ do not lead to
 * the console.
 */
export const localConsoleUrl = ({ consoleUrl }: Settings, { url, console }: Listening): string =>
  consoleUrl ?? `${console ?? url}/console`;

export interface Ready {
  readonly publicUrl: string;
  readonly operations: string;
  readonly consoleUrl: string;
  /** True if an account for the console exists, or if that is unknown. */
  readonly hasPeople: boolean;
  readonly demoFile: string | undefined;
}

/**
 * Returns the lines that the service prints when it starts. The lines `Operations` and `Console` do not use PUBLIC_URL,
 * because operations and the console should not be reachable there.
 */
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
    ...(settings.readsOnly ? [['Engine', 'off: this node serves reads only and runs no jobs']] : []),
    ...(demoFile === undefined ? [] : [['Demo channel', demoFile]]),
  ];
  const lines = [`\nPerennial is ready (${settings.environment})\n`];
  for (const [name = '', value = ''] of rows) lines.push(`  ${name.padEnd(14)}${value}`);
  if (settings.console === 'on' && !hasPeople) {
    lines.push('\n  To sign in to the console, create an account in another terminal:\n');
    lines.push('    npx perennial operator create NAME --role admin');
  }
  if (demoFile !== undefined) {
    const shown = path.relative(process.cwd(), demoFile);
    lines.push(`\n  Create the first order in another terminal:\n\n    node examples/first-order.mjs ${shown}\n`);
  }
  return lines;
}
