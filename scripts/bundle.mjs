// Bundles the compiled modules of a program into a few files, because loading hundreds of small files takes half of the
// start time. Dependencies stay in node_modules, so that tracing and audits still find them.
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { rolldown } from 'rolldown';
import { root } from './run.mjs';

const isAsInstalled = (id) => !/^([./#]|@perennial\/|@oxc-project\/)/.test(id);

/** Returns true for modules that are never bundled: Node's own modules, the optional pg-native. */
export const isNeverBundled = (id) => /^(node:|pg-native$)/.test(id);

/** Bundles programs into a folder. `entries` maps their names to their entry modules. */
export async function bundle(entries, folder, external = isAsInstalled) {
  const build = await rolldown({
    cwd: root,
    input: entries,
    platform: 'node',
    external,
    logLevel: 'warn',
  });
  // Writes to a new folder first, so that the previous version stays if the run is interrupted.
  const made = `${folder}.new`;
  await build.write({ dir: made, format: 'esm', chunkFileNames: '[name]-[hash].js', cleanDir: true });
  await build.close();
  rmSync(folder, { recursive: true, force: true });
  renameSync(made, folder);
}

const service = path.join(root, 'packages', 'service');

/** The entry modules of the service and of its command line. */
export const servicePrograms = {
  main: path.join(service, 'dist', 'main.js'),
  perennial: path.join(service, 'dist', 'cli', 'main.js'),
};

/** Bundles the programs of `npm start` and of the command line. */
export const bundleService = () => bundle(servicePrograms, path.join(service, 'dist', 'program'));

const sdk = path.join(root, 'packages', 'sdk');
const compiledSdk = path.join(sdk, 'dist', 'compiled');

/** Bundles the published package perennial-channel: one file for the SDK, one for the command line, and the types. */
export async function bundleSdk() {
  const command = path.join(compiledSdk, 'cli', 'main.js');
  if (existsSync(command)) await bundleFile(command, path.join(sdk, 'dist', 'cli.js'), 'node');
  await gatherTypes(path.join(sdk, 'dist', 'types'));
  gatherLicences(path.join(sdk, 'dist', 'LICENSES.txt'));
  // Written last: prepare.mjs compares this file's modification time to see whether the bundle is up to date.
  await bundleFile(path.join(compiledSdk, 'index.js'), path.join(sdk, 'dist', 'index.js'), 'neutral');
}

/** Bundles a module with all its imports except Node's own modules. */
async function bundleFile(input, file, platform) {
  const build = await rolldown({
    cwd: root,
    input,
    platform,
    external: /^node:/,
    // Lets the bundler drop the SDK's unused modules, because no module of it has side effects.
    ...(platform === 'neutral' ? { treeshake: { moduleSideEffects: false } } : {}),
    logLevel: 'warn',
  });
  // Omits doc comments, because the type declarations have them.
  await build.write({ file: `${file}.new`, format: 'esm', codeSplitting: false, comments: { jsdoc: false } });
  await build.close();
  renameSync(`${file}.new`, file);
}

/**
 * Copies the type declarations of the SDK, and of wire, because wire is not published. Generates the shapes of requests,
 * answers and events, with the reference's text on each field.
 */
async function gatherTypes(folder) {
  const made = `${folder}.new`;
  rmSync(made, { recursive: true, force: true });
  copyTypes(compiledSdk, made, (name) => !isIn('cli', name));
  copyTypes(path.join(root, 'packages', 'wire', 'dist'), path.join(made, 'wire'), (name) => !isIn('bridge', name));
  const { writeSdkTypes } = await import('../packages/developers/dist/sdk-types.js');
  writeFileSync(path.join(made, 'shapes.d.ts'), writeSdkTypes());
  rmSync(folder, { recursive: true, force: true });
  renameSync(made, folder);
}

const isIn = (folder, name) => name.startsWith(folder + path.sep);

/**
 * Collects the licences of this project and of the bundled packages. The licences of the bundled packages require this.
 */
function gatherLicences(file) {
  const inside = ['@noble/ciphers', '@noble/hashes', 'commander'].map((name) => [
    name,
    path.join('node_modules', name, 'LICENSE'),
  ]);
  const texts = [['perennial-channel', 'LICENSE'], ...inside].map(
    ([name, place]) => `${name}\n\n${readFileSync(path.join(root, place), 'utf8').trim()}\n`,
  );
  writeFileSync(file, texts.join('\n\n'));
}

function copyTypes(from, to, isWanted) {
  const names = readdirSync(from, { recursive: true, encoding: 'utf8' });
  for (const name of names.filter((one) => one.endsWith('.d.ts') && isWanted(one))) {
    cpSync(path.join(from, name), path.join(to, name));
    const text = readFileSync(path.join(to, name), 'utf8');
    const up = '../'.repeat(name.split(path.sep).length - 1) || './';
    writeFileSync(
      path.join(to, name),
      text
        .replaceAll(/(['"])@perennial\/wire\1/g, `'${up}wire/index.js'`)
        .replaceAll(/(['"])#platform\1/g, `'${up}platform/web.js'`),
    );
  }
}
