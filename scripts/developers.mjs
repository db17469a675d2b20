// Builds the developers' pages, which the service serves: packages/service/dist/pages/developers.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { makeCollections } from '../examples/collection/make.mjs';
import { pack, stage } from './release/stage.mjs';
import { root } from './run.mjs';

const folder = path.join(root, 'packages', 'developers', 'dist');

export async function buildDevelopers() {
  const names = ['theme', 'page', 'signature', 'my-channel', 'try'];
  const scripts = await Promise.all([
    ...names.map(async (name) => [
      `${name}.js`,
      await bundleScript(path.join(folder, 'browser', `${name}.js`), 'iife'),
    ]),
    // A module, which pages load when a reader signs in.
    bundleScript(path.join(root, 'packages', 'sdk', 'dist', 'index.js'), 'esm').then((code) => ['sdk.js', code]),
  ]);
  const { buildPages } = await import(path.join(folder, 'build.js'));
  buildPages(path.join(root, 'packages', 'service', 'dist', 'pages', 'developers'), Object.fromEntries(scripts), {
    'perennial-channel.tgz': await packSdk(),
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
  return {
    'perennial.postman_collection.json': Buffer.from(postman.replace('http://127.0.0.1:8080', '__PUBLIC_URL__')),
    'perennial-bruno.tgz': gzipSync(tar(bruno)),
  };
}

/** Returns an archive without times and owners, which tar would store: equal files must make equal bytes. */
function tar(files) {
  const blocks = Object.entries(files).flatMap(([name, text]) => {
    const content = Buffer.from(text);
    const header = Buffer.alloc(512);
    const size = content.length.toString(8).padStart(11, '0');
    const sum = () =>
      header
        .reduce((all, byte) => all + byte, 0)
        .toString(8)
        .padStart(6, '0');
    header.write(name);
    header.write(`0000644\x000000000\x000000000\0${size}\0${'0'.repeat(11)}\0${' '.repeat(8)}0`, 100);
    header.write('ustar\x0000', 257);
    header.write(`${sum()}\0 `, 148);
    return [header, content, Buffer.alloc((512 - (content.length % 512)) % 512)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

/** Packs the SDK as it is published. Channels install it from the service they call, so the versions are equal. */
async function packSdk() {
  const made = mkdtempSync(path.join(os.tmpdir(), 'perennial-'));
  try {
    const folder = path.join(made, 'perennial-channel');
    await stage('perennial-channel', folder);
    return readFileSync(path.join(made, pack(folder, made)));
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

/** Bundles a script with its imports into one file for browsers. */
async function bundleScript(input, format) {
  const build = await rolldown({
    cwd: root,
    input,
    platform: 'browser',
    logLevel: 'warn',
  });
  const { output } = await build.generate({ format, minify: true });
  await build.close();
  return output[0].code;
}
