import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { prepare, root } from './prepare.mjs';

// Checks the types that the build does not check: of tests, benches, and the console's pages, whose builder ignores
// types. The two compilers run at the same time, with one checker each, because each of several checkers would infer
// the same types again.
await prepare();
const ends = await Promise.all(['tsconfig.test.json', 'packages/console/tsconfig.json'].map(check));
const failed = ends.find((code) => code !== 0);
if (failed !== undefined) process.exit(failed || 1);

async function check(project) {
  const args = [`${root}/node_modules/typescript/bin/tsc`, '--project', `${root}/${project}`, '--checkers', '1'];
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['inherit', 2, 2] });
  const [code] = await once(child, 'exit');
  if (code !== 0) process.stderr.write(`perennial: typecheck of ${project} failed with exit code ${code}\n`);
  return code;
}
