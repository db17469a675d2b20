// Everything that must hold: formatting and lint, types, and the tests. Arguments go to vitest.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { prepare, root } from './prepare.mjs';
import { runTests } from './vitest.mjs';

await prepare();
// Beside the tests, which leave a part of the processor idle. The first that fails ends all.
const stop = new AbortController();
const checks = ['lint', 'typecheck'].map(async (name) => {
  const check = spawn(process.execPath, [path.join(root, 'scripts', `${name}.mjs`)], { cwd: root, stdio: 'inherit' });
  const [code] = await once(check, 'exit');
  if (code === 0) return true;
  process.stderr.write(`perennial: ${name} failed\n`);
  stop.abort();
  return false;
});
const code = await runTests(process.argv.slice(2), { signal: stop.signal });
process.exit((await Promise.all(checks)).every(Boolean) ? code : 1);
