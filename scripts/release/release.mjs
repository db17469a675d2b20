// npm run release: checks the tree, sets the version, builds every artefact twice and writes what is published with
// them. Publishes nothing. docs/releasing.md has the steps.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { root, run, say } from '../run.mjs';
import { git, setVersion } from './version.mjs';

const HELP = `npm run release -- VERSION --out DIR    checks everything, sets the version, builds
npm run release -- --dry-run --out DIR  only builds, with the version of this tree
`;

/** Programs that make artefacts, in this order. Each takes --out DIR and finds what the earlier ones have written there. */
const BUILDERS = ['pack.mjs', 'deb.mjs'].filter((name) => existsSync(path.join(import.meta.dirname, name)));
const NEEDS = { 'deb.mjs': 'dpkg-deb' };

const { values, positionals } = parseArgs({
  options: { 'dry-run': { type: 'boolean', default: false }, out: { type: 'string' } },
  allowPositionals: true,
});
const isDry = values['dry-run'];
const [version] = positionals;
if (values.out === undefined || positionals.length > 1 || isDry !== (version === undefined)) {
  process.stderr.write(HELP);
  process.exit(1);
}
const out = path.resolve(values.out);

if (existsSync(out) && readdirSync(out).length > 0) refuse(`${out} is not empty`);
const notes = readNotes();
if (!isDry) {
  if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) refuse(`"${version}" is not a version, such as 1.0.0`);
  if (git('status', '--porcelain') !== '') refuse('the tree has changes that are not committed');
  run(process.execPath, [path.join(root, 'scripts', 'test.mjs')], 'npm test', { env: { ...process.env, CI: 'true' } });
  run(process.execPath, [path.join(root, 'scripts', 'prove.mjs')], 'npm run prove');
  setVersion(version);
}
// The time of the last commit, so that everybody who builds this commit gets the same bytes.
process.env['SOURCE_DATE_EPOCH'] ??= git('log', '-1', '--format=%ct');
const folder = mkdtempSync(path.join(os.tmpdir(), 'perennial-release-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
const [artefacts] = compare(build('first'), build('second'));
cpSync(artefacts, out, { recursive: true });
await describe();
say(`${isDry ? 'a dry run' : version} is in ${out}; docs/releasing.md has the next steps`);

function refuse(reason) {
  say(`release: ${reason}`);
  process.exit(1);
}

/** Returns the text of the version in CHANGELOG.md, in a dry run that of the newest version. */
function readNotes() {
  const [, ...sections] = readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8').split(/^## /m);
  const found = isDry ? sections[0] : sections.find((one) => one.startsWith(`[${version}]`));
  return found ?? refuse(`CHANGELOG.md has no section "## [${version}]"`);
}

/** Builds every artefact from a copy of the tracked files, with its own dependencies. Returns the folder of the artefacts. */
function build(name) {
  const copy = path.join(folder, name);
  const made = path.join(folder, `${name}-artefacts`);
  // Without --others, a dry run would leave out new files.
  const files = git('ls-files', '-z', '--cached', '--others', '--exclude-standard').split('\0').filter(Boolean);
  for (const file of files.filter((one) => existsSync(path.join(root, one))))
    cpSync(path.join(root, file), path.join(copy, file));
  mkdirSync(made);
  for (const builder of BUILDERS) {
    // A dry run also works where there is no Debian.
    if (isDry && builder in NEEDS && spawnSync(NEEDS[builder], ['--version']).error) continue;
    const args = [path.join(copy, 'scripts', 'release', builder), '--out', made];
    run(process.execPath, args, builder, { cwd: copy });
  }
  return made;
}

/** Fails if the files of the folders differ. Returns the folders. */
function compare(...folders) {
  const [first, second] = folders.map(
    (one) => new Map(listFiles(one).map((name) => [name, hashOf(path.join(one, name))])),
  );
  const differing = [...new Set([...first.keys(), ...second.keys()])].filter(
    (name) => first.get(name) !== second.get(name),
  );
  for (const name of differing) say(`  ${name}: ${first.get(name)} and ${second.get(name)}`);
  if (differing.length > 0) refuse('two builds of the same sources differ');
  return folders;
}

/** Writes the SBOM of each artefact, the third-party licences, the notes and the checksums. */
async function describe() {
  // The modules of the second copy, because its dependencies are installed and its versions are set.
  const load = (name) => import(pathToFileURL(path.join(folder, 'second', 'scripts', 'release', name)).href);
  const { componentsOf, PUBLISHED } = await load('stage.mjs');
  const { contained, licencesOf, sbomOf, readManifest, unique } = await load('components.mjs');
  const date = new Date(Number(process.env['SOURCE_DATE_EPOCH']) * 1000);
  const write = (name, text) => writeFileSync(path.join(out, name), text);
  for (const file of listFiles(out)) {
    const [name, from] = PUBLISHED.find(([one]) => file.startsWith(`${one}-${readManifest('service').version}`)) ?? [];
    // Other artefacts contain the npm package of the service, without what npm may install with it.
    const sbom =
      name === undefined
        ? sbomOf({ ...readManifest('service'), name: 'perennial' }, contained(componentsOf('perennial-server')), date)
        : sbomOf({ ...readManifest(from), name }, componentsOf(name), date);
    write(`${file}.cdx.json`, `${JSON.stringify(sbom, null, 2)}\n`);
    say(`  ${file}: ${sbom.components.length} components, sha256 ${hashOf(path.join(out, file))}`);
  }
  write('THIRD-PARTY-LICENSES.txt', licencesOf(unique(PUBLISHED.flatMap(([name]) => componentsOf(name)))));
  write('RELEASE-NOTES.md', `## ${notes.trim()}\n`);
  write(
    'SHA256SUMS',
    listFiles(out)
      .map((name) => `${hashOf(path.join(out, name))}  ${name}\n`)
      .join(''),
  );
}

function listFiles(one) {
  return readdirSync(one).sort();
}

function hashOf(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}
