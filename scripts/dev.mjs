// npm run dev: compiles changed sources and restarts the service.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { prepare, root } from './prepare.mjs';

await prepare();
const compiler = path.join('node_modules', 'typescript', 'bin', 'tsc');
const programs = [
  [compiler, '--build', '--watch', '--preserveWatchOutput', 'tsconfig.json'],
  // Node's own watch mode: when a loaded file changes, stops the service as Ctrl-C does and starts it again.
  ['--watch', '--watch-preserve-output', path.join('packages', 'service', 'dist', 'main.js')],
].map((args) => spawn(process.execPath, args, { cwd: root, stdio: 'inherit' }));

// Passes a signal on to all programs. (Ctrl-C in a terminal reaches them directly.)
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    for (const program of programs) program.kill(signal);
  });
}
await Promise.all(programs.map((program) => once(program, 'exit')));
