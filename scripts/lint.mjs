import { prepare, root, run } from './prepare.mjs';
import { say } from './run.mjs';

await prepare();
// Imported only here, because in a new checkout its dependencies are missing until `prepare` has run.
const found = (await import('./super-linear.mjs')).lintPatterns(root);
if (found.length > 0) {
  say(found.join('\n'));
  process.exit(1);
}
run(process.execPath, [`${root}/node_modules/@biomejs/biome/bin/biome`, 'check', '.'], 'biome');
