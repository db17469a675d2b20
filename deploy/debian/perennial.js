// Runs a command with the settings that /usr/bin/perennial has opened as root: 3 is perennial.env, 4 master-key, 5 owner.env.
import { closeSync, readFileSync } from 'node:fs';

/** Reads settings as systemd does. Node's parseEnv would end a value, such as a password, at a number sign. */
function parse(text) {
  const lines = text.matchAll(/^[ \t]*(\w+)=(?:"([^"]*)"[ \t]*|'([^']*)'[ \t]*|(.*))$/gm);
  return Object.fromEntries(
    [...lines].map(([, name, ...quoted]) => [name, quoted[0] ?? quoted[1] ?? quoted[2].trimEnd()]),
  );
}

function read(descriptor) {
  const text = readFileSync(descriptor, 'utf8');
  closeSync(descriptor);
  return text;
}

/** Returns the master key, which nodes get as a credential of systemd, and the previous keys. */
function findKeys({ MASTER_KEY, MASTER_KEY_FILE, MASTER_KEY_PREVIOUS }, file) {
  if (MASTER_KEY || MASTER_KEY_FILE || file === '') return {};
  const [key, ...previous] = file.trim().split(/\s+/);
  const all = [...previous, ...(MASTER_KEY_PREVIOUS ? [MASTER_KEY_PREVIOUS] : [])];
  return { MASTER_KEY: key, ...(all.length > 0 ? { MASTER_KEY_PREVIOUS: all.join(',') } : {}) };
}

const defaults = { NODE_ENV: 'production', SVC_ENVIRONMENT: 'production', DATA_DIR: '/var/lib/perennial' };
// Links to the console lead to the first node, unless CONSOLE_URL is set.
const settings = { ...defaults, PORT: '8081', ...parse(read(3)) };
Object.assign(process.env, settings, findKeys(settings, read(4)), parse(read(5)));
await import('./perennial.js');
