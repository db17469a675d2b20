// Everything that must hold: formatting and lint, types, then the tests. Arguments go to vitest.
import { spawnSync } from 'node:child_process';
import { chromium } from './chromium.mjs';
import { program } from './debian.mjs';
import { root } from './prepare.mjs';
import './lint.mjs';
import './typecheck.mjs';

const { status } = spawnSync(
  process.execPath,
  [`${root}/node_modules/vitest/vitest.mjs`, 'run', ...process.argv.slice(2)],
  { cwd: root, stdio: 'inherit', env: { ...process.env, CHROMIUM: chromium(), HAPROXY: program('haproxy') } },
);
process.exit(status ?? 1);
