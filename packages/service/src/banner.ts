import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Listening } from './listen.js';
import { PACKAGE_FOLDER } from './platform/package-folder.js';
import type { Settings } from './platform/settings.js';
import { IS_CLONE } from './platform/version.js';

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
    lines.push(`    ${findCommand()} operator create NAME --role admin`);
  }
  if (demoFile !== undefined) {
    const shown = path.relative(process.cwd(), demoFile);
    const program = IS_CLONE
      ? 'node examples/first-order.mjs'
      : `${enter()} ${findChannelCommand(settings, publicUrl)} trigger renewal --channel`;
    lines.push(`\n  Create the first order in another terminal:\n\n    ${program} ${shown}\n`);
  }
  return lines;
}

/** Leads to the folder of this process, because a command in another folder would look for another DATA_DIR. */
const enter = () => `cd ${quote(process.cwd())} &&`;

/**
 * Returns how to run a command of this installation. `npx perennial` would run another author's package where none of
 * ours is installed, so the command is named after our package, or after its file.
 */
function findCommand(): string {
  const place = fileURLToPath(PACKAGE_FOLDER);
  const isFoundByNpx = IS_CLONE
    ? !path.relative(path.resolve(place, '../..'), process.cwd()).startsWith('..')
    : place.includes('/node_modules/');
  if (isFoundByNpx) return `${enter()} npx perennial-server`;
  return IS_CLONE ? `${enter()} node ${quote(path.join(place, 'bin/perennial.js'))}` : 'perennial';
}

/**
 * Returns how to run the channel's command line: the installed one, else the one that this service serves, because the
 * registry may have another version of it.
 */
function findChannelCommand({ developers }: Settings, publicUrl: string): string {
  if (developers === 'off' || existsSync('node_modules/.bin/perennial-channel')) return 'npx perennial-channel';
  return `npx --package ${publicUrl}/developers/clients/perennial-channel.tgz perennial-channel`;
}

function quote(place: string): string {
  return /^[\w./@:+-]+$/.test(place) ? place : `'${place.replaceAll("'", "'\\''")}'`;
}
