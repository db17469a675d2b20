// Builds the pages for developers, which the service serves: packages/developers/dist/site.
import path from 'node:path';
import { rolldown } from 'rolldown';
import { root } from './prepare.mjs';

const folder = path.join(root, 'packages', 'developers', 'dist');

export async function buildDevelopers() {
  const names = ['theme', 'page', 'signature'];
  const scripts = await Promise.all(names.map(async (name) => [`${name}.js`, await bundleScript(name)]));
  const { buildPages } = await import(path.join(folder, 'build.js'));
  buildPages(path.join(folder, 'site'), Object.fromEntries(scripts));
}

/** One file with all that it imports, for a browser. */
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
