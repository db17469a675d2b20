// Puts the compiled modules of a program into a few files: a process that reads hundreds of small ones spends half of its start
// on finding them. Dependencies stay as they are installed, so that what watches them (tracing, an audit) still can.
import { renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { rolldown } from 'rolldown';
import { root } from './prepare.mjs';

/** Needs the folder that it is installed in, to find the server beside it. */
const OURS_AS_INSTALLED = '@perennial/embedded-postgres';

const isBundled = (id) => /^([./#]|@perennial\/|@oxc-project\/)/.test(id) && id !== OURS_AS_INSTALLED;

/** `entries`: the names of the programs, and the modules that they begin with. */
export async function bundle(entries, folder) {
  const build = await rolldown({
    cwd: root,
    input: entries,
    platform: 'node',
    external: (id) => !isBundled(id),
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
