import { pathToFileURL } from 'node:url';
import { prepare, root } from './prepare.mjs';

process.stderr.write('Perennial is getting ready\n');
await prepare();
await import(pathToFileURL(`${root}/packages/service/dist/program/main.js`).href);
