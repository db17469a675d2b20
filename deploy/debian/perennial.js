#!/usr/bin/node
// /usr/bin/perennial: runs a command with the settings and the user of the nodes (perennial@.service). Reads the files
// that only root can read, then gives up root.
import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

const FOLDER = '/etc/perennial';
const USER = 'perennial';

const readEnv = (name) => {
  const file = `${FOLDER}/${name}`;
  return existsSync(file) ? parseEnv(readFileSync(file, 'utf8')) : {};
};

/** Returns the master key, which nodes get as a credential of systemd, and the previous keys. */
function readKeys({ MASTER_KEY, MASTER_KEY_FILE, MASTER_KEY_PREVIOUS }) {
  const file = `${FOLDER}/master-key`;
  if (MASTER_KEY || MASTER_KEY_FILE || !existsSync(file)) return {};
  const [key, ...previous] = readFileSync(file, 'utf8').trim().split(/\s+/);
  const all = [...previous, ...(MASTER_KEY_PREVIOUS ? [MASTER_KEY_PREVIOUS] : [])];
  return { MASTER_KEY: key, ...(all.length > 0 ? { MASTER_KEY_PREVIOUS: all.join(',') } : {}) };
}

if (process.getuid() === 0) {
  const defaults = { NODE_ENV: 'production', SVC_ENVIRONMENT: 'production', DATA_DIR: '/var/lib/perennial' };
  const settings = { ...defaults, ...readEnv('perennial.env') };
  Object.assign(process.env, settings, readKeys(settings));
  // The role that owns the tables is for this command only.
  if (process.argv[2] === 'migrate') Object.assign(process.env, readEnv('owner.env'));
  process.umask(0o077);
  process.initgroups(USER, USER);
  process.setgid(USER);
  process.setuid(USER);
  await import('./perennial.js');
} else {
  process.stderr.write(`perennial: the settings in ${FOLDER} are readable by root only. Run: sudo perennial …\n`);
  process.exitCode = 1;
}
