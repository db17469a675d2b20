import { pathToFileURL } from 'node:url';
import { prepare, root } from './prepare.mjs';

await prepare();
await import(pathToFileURL(`${root}/packages/service/bench/main.mjs`).href);
