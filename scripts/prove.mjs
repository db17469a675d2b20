// npm run prove -- NAME [options]: what takes too long for the tests, each a program of packages/service/prove. One in
// JavaScript runs by being loaded; one in TypeScript exports a function, which is given the options. With --smoke each does the least
// that shows that it can run: the tests do that, on code that they have compiled already (test/prove/smoke.test.ts).
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { program } from './debian.mjs';
import { prepare, root } from './prepare.mjs';

const folder = path.join(root, 'packages', 'service', 'prove');
const files = readdirSync(folder).filter((file) => /^[a-z]+\.(mjs|ts)$/.test(file));
const [name] = process.argv.splice(2, 1);
const file = files.find((one) => path.parse(one).name === name);

if (file === undefined) {
  const names = files.map((one) => path.parse(one).name).join(', ');
  process.stderr.write(`npm run prove -- NAME [options], where NAME is one of: ${names}\n`);
  process.exitCode = 1;
} else {
  if (!process.argv.includes('--smoke')) await prepare();
  const place = path.join(folder, file);
  if (file.endsWith('.mjs')) await import(pathToFileURL(place).href);
  else await proveInTypeScript(place);
}

/** Loaded as the tests are: by Vite. */
async function proveInTypeScript(place) {
  const { runnerImport } = await import('vite');
  const { module } = await runnerImport(place, { root, logLevel: 'error', configFile: false });
  await module.default(process.argv.slice(2), { root, program });
  process.exit();
}
