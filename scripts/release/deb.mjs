// node scripts/release/deb.mjs --out DIR [--version VERSION]: writes DIR/perennial_VERSION_all.deb. It contains the
// perennial-server-….tgz in DIR, which pack.mjs writes, or is packed first.
// The same sources and SOURCE_DATE_EPOCH (otherwise the time of the last commit) make the same bytes.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { root, run } from '../run.mjs';

const { values } = parseArgs({
  options: { out: { type: 'string' }, version: { type: 'string' } },
});
if (values.out === undefined) throw new Error('--out DIR is missing');
const out = path.resolve(values.out);
const epoch = Number(process.env['SOURCE_DATE_EPOCH'] ?? git('log', '-1', '--format=%ct'));
const folder = mkdtempSync(path.join(os.tmpdir(), 'perennial-deb-'));
const tree = path.join(folder, 'tree');
try {
  mkdirSync(out, { recursive: true });
  process.stdout.write(`${buildPackage(findServer(out) ?? packServer())}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function git(...args) {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
}

function findServer(folder) {
  const name = readdirSync(folder).find((one) => /^perennial-server-.*\.tgz$/.test(one));
  return name && path.join(folder, name);
}

function packServer() {
  run(process.execPath, [path.join(root, 'scripts/release/pack.mjs'), '--out', folder], 'pack.mjs');
  return findServer(folder);
}

function buildPackage(tarball) {
  const program = inTree('usr/lib/perennial');
  mkdirSync(program, { recursive: true });
  run('tar', ['-xzf', tarball, '--strip-components=1', '--no-same-owner', '-C', program], 'tar');
  copy('debian/perennial.js', 'usr/lib/perennial/bin/debian.js');
  copy('debian/perennial', 'usr/bin/perennial');
  copy('systemd/perennial@.service', 'usr/lib/systemd/system/perennial@.service');
  copy('debian/perennial.env', 'etc/perennial/perennial.env');
  copy('../LICENSE', 'usr/share/doc/perennial/copyright');
  for (const page of ['CHANGELOG.md', 'SECURITY.md']) copy(`../${page}`, `usr/share/doc/perennial/${page}`);
  for (const page of readdirSync(path.join(root, 'docs')).filter((name) => name.endsWith('.md')))
    copy(`../docs/${page}`, `usr/share/doc/perennial/docs/${page}`);
  // Images are built from a checkout, which has their examples.
  for (const example of readdirSync(path.join(root, 'deploy')))
    if (!['debian', 'docker', 'kubernetes'].includes(example))
      copy(example, `usr/share/doc/perennial/deploy/${example}`);
  setModes();

  const { version } = JSON.parse(readFileSync(path.join(program, 'package.json'), 'utf8'));
  const debian = toDebian(values.version ?? version);
  writeControl(debian);
  setTimes();
  const file = path.join(out, `perennial_${debian}_all.deb`);
  // One thread, because the number of threads can change the compressed bytes.
  const options = ['--root-owner-group', '-Zxz', '--threads-max=1', '--build', tree, file];
  run('dpkg-deb', options, 'dpkg-deb', { env: { ...process.env, SOURCE_DATE_EPOCH: String(epoch) } });
  return file;
}

/** Returns a version as Debian sorts it: 1.0.0~rc.1 is before 1.0.0. */
function toDebian(version) {
  return version.replace('-', '~');
}

function inTree(place) {
  return path.join(tree, place);
}

/** Copies a file or a folder of deploy/ to its place in the package. */
function copy(from, to) {
  cpSync(path.join(root, 'deploy', from), inTree(to), { recursive: true });
}

function listTree() {
  return readdirSync(tree, { recursive: true, withFileTypes: true }).map((entry) => ({
    entry,
    place: path.join(entry.parentPath, entry.name),
  }));
}

/** Sets the modes, which otherwise depend on the umask of the checkout. */
function setModes() {
  chmodSync(tree, 0o755);
  for (const { entry, place } of listTree()) {
    if (entry.isSymbolicLink()) continue;
    const isProgram = entry.isFile() && readFileSync(place).subarray(0, 2).toString() === '#!';
    chmodSync(place, entry.isDirectory() || isProgram ? 0o755 : 0o644);
  }
  chmodSync(inTree('etc/perennial'), 0o700);
  chmodSync(inTree('etc/perennial/perennial.env'), 0o600);
}

function setTimes() {
  for (const { place } of listTree()) lutimesSync(place, epoch, epoch);
  lutimesSync(tree, epoch, epoch);
}

function writeControl(version) {
  const files = listTree()
    .filter(({ entry }) => entry.isFile())
    .map(({ place }) => ({ name: path.relative(tree, place), content: readFileSync(place) }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
  const size = Math.ceil(files.reduce((sum, { content }) => sum + content.length, 0) / 1024);
  // Settings are not in the sums, because users change them.
  const constant = files.filter(({ name }) => !name.startsWith('etc/'));
  const sums = constant.map(({ name, content }) => `${createHash('md5').update(content).digest('hex')}  ${name}\n`);
  mkdirSync(inTree('DEBIAN'));
  for (const name of ['conffiles', 'postinst', 'postrm', 'prerm', 'templates']) {
    copy(`debian/${name}`, `DEBIAN/${name}`);
    chmodSync(inTree(`DEBIAN/${name}`), /^(pre|post)/.test(name) ? 0o755 : 0o644);
  }
  const control = readFileSync(path.join(root, 'deploy/debian/control'), 'utf8');
  writeFileSync(inTree('DEBIAN/control'), control.replace('${VERSION}', version).replace('${SIZE}', String(size)));
  writeFileSync(inTree('DEBIAN/md5sums'), sums.join(''));
  chmodSync(inTree('DEBIAN'), 0o755);
  for (const name of ['control', 'md5sums']) chmodSync(inTree(`DEBIAN/${name}`), 0o644);
}
