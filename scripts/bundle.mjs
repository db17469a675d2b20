// Puts the compiled modules of a program into a few files: a process that reads hundreds of small ones spends half of its start
// on finding them. Dependencies stay as they are installed, so that what watches them (tracing, an audit) still can.
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { rolldown } from 'rolldown';
import { root } from './run.mjs';

/** Needs the folder that it is installed in, to find the server beside it. */
const OURS_AS_INSTALLED = '@perennial/embedded-postgres';

const isBundled = (id) => /^([./#]|@perennial\/|@oxc-project\/)/.test(id) && id !== OURS_AS_INSTALLED;

const isAsInstalled = (id) => !isBundled(id);

/** What cannot be put into a file: that, what the platform has, and what a dependency can do without. */
export const isNeverBundled = (id) => id === OURS_AS_INSTALLED || /^(node:|pg-native$)/.test(id);

/** `entries`: the names of the programs, and the modules that they begin with. */
export async function bundle(entries, folder, external = isAsInstalled) {
  const build = await rolldown({
    cwd: root,
    input: entries,
    platform: 'node',
    external,
    logLevel: 'warn',
  });
  // Whole or not at all: one that is cut off while it writes leaves the folder as it was.
  const made = `${folder}.new`;
  await build.write({ dir: made, format: 'esm', chunkFileNames: '[name]-[hash].js', cleanDir: true });
  await build.close();
  rmSync(folder, { recursive: true, force: true });
  renameSync(made, folder);
}

const service = path.join(root, 'packages', 'service');

/** What `npm start` and `npx perennial` run. */
export const bundleService = () =>
  bundle(
    { main: path.join(service, 'dist', 'main.js'), perennial: path.join(service, 'dist', 'cli', 'main.js') },
    path.join(service, 'dist', 'program'),
  );

const sdk = path.join(root, 'packages', 'sdk');
const compiledSdk = path.join(sdk, 'dist', 'compiled');

/** What is published as perennial-channel: one file for wherever there is fetch, one for the command line, and the types. */
export async function bundleSdk() {
  const command = path.join(compiledSdk, 'cli', 'main.js');
  if (existsSync(command)) await bundleFile(command, path.join(sdk, 'dist', 'cli.js'), 'node');
  gatherTypes(path.join(sdk, 'dist', 'types'));
  gatherLicences(path.join(sdk, 'dist', 'LICENSES.txt'));
  // The last one: by its time it is known whether all of them are new.
  await bundleFile(path.join(compiledSdk, 'index.js'), path.join(sdk, 'dist', 'index.js'), 'neutral');
}

/** With everything in it but what the platform has. */
async function bundleFile(input, file, platform) {
  const build = await rolldown({
    cwd: root,
    input,
    platform,
    external: /^node:/,
    // Nothing that is imported there does more than give what it exports.
    ...(platform === 'neutral' ? { treeshake: { moduleSideEffects: false } } : {}),
    logLevel: 'warn',
  });
  // The types have the explanations.
  await build.write({ file: `${file}.new`, format: 'esm', codeSplitting: false, comments: { jsdoc: false } });
  await build.close();
  renameSync(`${file}.new`, file);
}

/** The declarations of the SDK, and beside them those of wire, which is not published. */
function gatherTypes(folder) {
  const made = `${folder}.new`;
  rmSync(made, { recursive: true, force: true });
  copyTypes(compiledSdk, made, (name) => !isIn('cli', name));
  copyTypes(path.join(root, 'packages', 'wire', 'dist'), path.join(made, 'wire'), (name) => !isIn('bridge', name));
  rmSync(folder, { recursive: true, force: true });
  renameSync(made, folder);
}

const isIn = (folder, name) => name.startsWith(folder + path.sep);

/** Ours, and those of what is inside the file, which ask to come along with it. */
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
