import { prepare, root, run } from './prepare.mjs';

// Building has checked the packages; tests and benches are never emitted, so they are checked here.
await prepare();
run(
  process.execPath,
  [`${root}/node_modules/typescript/bin/tsc`, '--project', `${root}/tsconfig.test.json`],
  'typecheck',
);
