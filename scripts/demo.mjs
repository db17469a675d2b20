// npm run demo: fills the sandbox of npm start with about a hundred made-up orders, so that every page of the console
// has something to show. A development tool that uses the service only over HTTP and its command line.
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { prepare, root } from './prepare.mjs';

const ADMIN = 'demo';

if (process.argv.length > 2) stop('it takes no arguments');
await prepare();
const baseUrl = findSandbox();
const password = randomUUID();
const program = path.join(root, 'packages', 'service', 'bin', 'perennial.js');
const args = [program, 'operator', 'create', ADMIN, '--role', 'admin', '--password-stdin'];
const created = spawnSync(process.execPath, args, { input: password, encoding: 'utf8' });
if (created.status !== 0) stop(`the account ${ADMIN} cannot be made: ${created.stderr.trim()}`);
const { fillDemo } = await import('./demo/fill.mjs');
const { orders, appIds } = await fillDemo({ baseUrl, admin: { name: ADMIN, password } });
spawnSync(process.execPath, [program, 'operator', 'disable', ADMIN]);
process.stdout.write(`${orders} orders in the channels ${appIds.join(', ')}; look at ${baseUrl}/console\n`);

function findSandbox() {
  const file = path.join(process.env['DATA_DIR'] ?? 'data', 'demo-channel.json');
  try {
    return JSON.parse(readFileSync(file, 'utf8')).baseUrl;
  } catch {
    return stop(`${file} cannot be read: npm start writes it, and must be running`);
  }
}

function stop(reason) {
  process.stderr.write(`demo: ${reason}\n`);
  process.exit(1);
}
