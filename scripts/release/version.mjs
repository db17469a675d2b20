import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { root } from '../run.mjs';

export const git = (...args) =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28 }).trimEnd();

/** Sets the version of all packages, and where they depend on each other. All packages have the same version. */
export function setVersion(version) {
  const lock = path.join(root, 'package-lock.json');
  edit(lock, ({ packages }) => {
    for (const [place, one] of Object.entries(packages)) if (/^packages\/[^/]+$/.test(place)) setIn(one, version);
  });
  for (const name of readdirSync(path.join(root, 'packages')))
    edit(path.join(root, 'packages', name, 'package.json'), (manifest) => setIn(manifest, version));
}

function setIn(manifest, version) {
  manifest.version = version;
  for (const needed of [manifest.dependencies, manifest.devDependencies])
    for (const name of Object.keys(needed ?? {})) if (name.startsWith('@perennial/')) needed[name] = version;
}

function edit(file, change) {
  const content = JSON.parse(readFileSync(file, 'utf8'));
  change(content);
  writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`);
}
