// Builds the developers' pages, which the service serves: packages/service/dist/pages/developers.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { rolldown } from 'rolldown';
import { makeCollections } from '../examples/collection/make.mjs';
import { root, run, runNpm } from './run.mjs';

const folder = path.join(root, 'packages', 'developers', 'dist');

export async function buildDevelopers() {
  const names = ['theme', 'page', 'signature'];
  const scripts = await Promise.all(names.map(async (name) => [`${name}.js`, await bundleScript(name)]));
  const { buildPages } = await import(path.join(folder, 'build.js'));
  buildPages(path.join(root, 'packages', 'service', 'dist', 'pages', 'developers'), Object.fromEntries(scripts), {
    'perennial-channel.tgz': packSdk(),
    ...Object.fromEntries(OTHER_CLIENTS.map((place) => [path.basename(place), readFileSync(place)])),
    ...packCollections(),
  });
}

/** The files of the clients in other languages, which channels can copy. */
const OTHER_CLIENTS = [
  'python/perennial.py',
  'java/Perennial.java',
  'java/Json.java',
  'go/perennial.go',
  'php/Perennial.php',
  'sh/perennial.sh',
].map((name) => path.join(root, 'examples', name));

/** Packs the collections: Postman's as a file with a placeholder for the service's URL, Bruno's as an archive. */
function packCollections() {
  const { 'perennial.postman_collection.json': postman, ...bruno } = makeCollections();
  return inTemporaryFolder((made) => {
    for (const [name, text] of Object.entries(bruno)) {
      const place = path.join(made, name);
      mkdirSync(path.dirname(place), { recursive: true });
      writeFileSync(place, text);
    }
    const packed = path.join(made, 'bruno.tgz');
    run('tar', ['-czf', packed, '-C', made, 'bruno'], 'tar');
    return {
      'perennial.postman_collection.json': Buffer.from(postman.replace('http://127.0.0.1:8080', '__PUBLIC_URL__')),
      'perennial-bruno.tgz': readFileSync(packed),
    };
  });
}

/** Packs the SDK as npm would publish it. Channels install it from the service they call, so the versions are equal. */
const packSdk = () =>
  inTemporaryFolder((made) => {
    const args = ['pack', '--silent', '--workspace', 'perennial-channel', '--pack-destination', made];
    runNpm(args, 'npm pack', { stdio: ['ignore', 'ignore', 2] });
    const { version } = JSON.parse(readFileSync(path.join(root, 'packages', 'sdk', 'package.json'), 'utf8'));
    return readFileSync(path.join(made, `perennial-channel-${version}.tgz`));
  });

function inTemporaryFolder(work) {
  const made = mkdtempSync(path.join(os.tmpdir(), 'perennial-'));
  try {
    return work(made);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

/** Bundles a script with its imports into one file for browsers. */
async function bundleScript(name) {
  const build = await rolldown({
    cwd: root,
    input: path.join(folder, 'browser', `${name}.js`),
    platform: 'browser',
    logLevel: 'warn',
  });
  const { output } = await build.generate({ format: 'iife', minify: true });
  await build.close();
  return output[0].code;
}
