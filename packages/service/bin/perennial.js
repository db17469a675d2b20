#!/usr/bin/env node
import { existsSync } from 'node:fs';

const main = new URL('../dist/program/perennial.js', import.meta.url);

if (existsSync(main)) {
  await import(main.href);
} else {
  process.stderr.write('perennial: it is not built yet; run npm start or npm run build first\n');
  process.exitCode = 1;
}
