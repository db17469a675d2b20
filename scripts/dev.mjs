// npm run dev: compiles whatever changes, and starts the service anew with it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { prepare, root } from './prepare.mjs';

await prepare();
const compiler = path.join('node_modules', 'typescript', 'bin', 'tsc');
const programs = [
  [compiler, '--build', '--watch', '--preserveWatchOutput', 'tsconfig.json'],
  // Node's own: it stops the service as Ctrl-C does, and starts it when any file that it has loaded is another one.
  ['--watch', '--watch-preserve-output', path.join('packages', 'service', 'dist', 'main.js')],
].map((args) => spawn(process.execPath, args, { cwd: root, stdio: 'inherit' }));

// A terminal tells all of them; whoever tells this process alone means all of them too.
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    for (const program of programs) program.kill(signal);
  });
}
await Promise.all(programs.map((program) => once(program, 'exit')));
