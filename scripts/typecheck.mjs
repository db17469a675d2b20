import { prepare, root, run } from './prepare.mjs';

// Building has checked the packages of the service; tests and benches are never emitted, and the console's pages by a tool that
// does not look at types, so they are checked here.
await prepare();
for (const project of ['tsconfig.test.json', 'packages/console/tsconfig.json'])
  run(process.execPath, [`${root}/node_modules/typescript/bin/tsc`, '--project', `${root}/${project}`], 'typecheck');
