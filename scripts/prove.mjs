// npm run prove -- NAME [options]: what takes too long for the tests, each a program of packages/service/prove.
import { readdirSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { prepare, root } from './prepare.mjs';

const folder = `${root}/packages/service/prove`;
const names = readdirSync(folder)
  .filter((file) => file.endsWith('.mjs'))
  .map((file) => file.slice(0, -'.mjs'.length));
const [name] = process.argv.splice(2, 1);

if (names.includes(name)) {
  await prepare();
  await import(pathToFileURL(`${folder}/${name}.mjs`).href);
} else {
  process.stderr.write(`npm run prove -- NAME [options], where NAME is one of: ${names.join(', ')}\n`);
  process.exitCode = 1;
}
