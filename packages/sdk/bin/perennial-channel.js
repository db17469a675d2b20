#!/usr/bin/env node
import { existsSync } from 'node:fs';

const main = new URL('../dist/cli.js', import.meta.url);

if (existsSync(main)) {
  await import(main.href);
} else {
  process.stderr.write('perennial-channel: it is not built yet; run npm run build first\n');
  process.exitCode = 1;
}
