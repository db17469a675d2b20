import { readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { freshDatabase } from '../support/database.js';
import { packageRoot, start } from '../support/processes.js';

const SCRIPT = path.join(packageRoot, '..', '..', 'scripts', 'prove.mjs');
/** Every proof there is; `ha` has a test of its own. */
const proofs = readdirSync(path.join(packageRoot, 'prove'))
  .filter((file) => /^[a-z]+\.(mjs|ts)$/.test(file))
  .map((file) => path.parse(file).name)
  .filter((name) => name !== 'ha');

/** Nobody runs the proofs every day: one that cannot start any more would be noticed when it is needed. */
it.each(proofs)(
  'npm run prove -- %s --smoke passes',
  async (name) => {
    const fresh = await freshDatabase();
    onTestFinished(() => fresh.close());
    const haproxy = process.env['HAPROXY'];
    const running = start(SCRIPT, haproxy ? { HAPROXY: haproxy } : {}, [name, '--smoke', '--database', fresh.url]);
    onTestFinished(() => void running.child.kill('SIGKILL'));
    const code = await running.exited;
    expect(code, `${running.stdout()}${running.stderr()}`).toBe(0);
  },
  // The longest starts and stops nine nodes: the bound is for what hangs.
  180_000,
);
