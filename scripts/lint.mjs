import { prepare, root, run } from './prepare.mjs';

await prepare();
run(process.execPath, [`${root}/node_modules/@biomejs/biome/bin/biome`, 'check', '.'], 'biome');
