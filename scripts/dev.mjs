// npm run dev: compiles changes and restarts the service.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { prepare, root } from './prepare.mjs';

await prepare();
const compiler = path.join('node_modules', 'typescript', 'bin', 'tsc');
const programs = [
  [compiler, '--build', '--watch', '--preserveWatchOutput', 'tsconfig.json'],
  // Node's own watcher: stops the service as Ctrl-C does, and restarts it when a loaded file changes.
  ['--watch', '--watch-preserve-output', path.join('packages', 'service', 'dist', 'main.js')],
].map((args) => spawn(process.execPath, args, { cwd: root, stdio: 'inherit' }));

// A terminal signals all processes. A signal to this process alone is meant for all, too.
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    for (const program of programs) program.kill(signal);
  });
}
await Promise.all(programs.map((program) => once(program, 'exit')));
