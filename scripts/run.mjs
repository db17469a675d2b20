// The location of the checkout, and functions that run programs. Uses only Node's own modules.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

export const say = (line) => process.stderr.write(`${line}\n`);

export function runNpm(args, name, options) {
  // While npm runs a script, npm_execpath names npm's own entry file. Otherwise the npm on the PATH is used.
  const npm = process.env['npm_execpath'];
  const [command, first] = npm?.endsWith('.js') ? [process.execPath, [npm]] : ['npm', []];
  run(command, [...first, ...args], name, options);
}

/** Runs a program. Its output goes to our standard error. Exits this process if the program fails. */
export function run(command, args, name, options = {}) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ['inherit', 2, 2], ...options });
  if (status !== 0) {
    say(`perennial: ${name} failed${error ? `: ${error.message}` : ` with exit code ${status}`}`);
    process.exit(status || 1);
  }
}
