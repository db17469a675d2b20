#!/usr/bin/env node
import { existsSync } from 'node:fs';

const main = new URL('../dist/program/perennial.js', import.meta.url);
const [major, minor] = process.versions.node.split('.').map(Number);

// Checked before the import, because an older Node cannot parse the program.
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`perennial: Node 20.19 or newer is needed, this is ${process.versions.node}\n`);
  process.exitCode = 1;
} else if (existsSync(main)) {
  await import(main.href);
} else {
  process.stderr.write('perennial: it is not built yet; run npm start or npm run build first\n');
  process.exitCode = 1;
}
