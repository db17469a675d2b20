// Prepares a checkout: installs the locked dependencies and compiles. Uses only Node's own modules, because it runs
// before any other module is installed.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { root, run, runNpm, say } from './run.mjs';

export { root, run };

const at = (...parts) => path.join(root, ...parts);

const NEEDED = [20, 19];

/** Installs the dependencies if node_modules is missing or older than the lock file, and compiles changed sources. */
export async function prepare() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < NEEDED[0] || (major === NEEDED[0] && minor < NEEDED[1])) {
    say(`perennial: Node ${NEEDED.join('.')} or newer is needed, this is ${process.versions.node}`);
    process.exit(1);
  }
  await alone(async () => {
    if (!isInstalled()) install();
    await build();
  });
}

function isInstalled() {
  const installed = at('node_modules', '.package-lock.json');
  return existsSync(installed) && statSync(installed).mtimeMs >= statSync(at('package-lock.json')).mtimeMs;
}

function install() {
  say('  installing dependencies (npm ci)');
  // Also installs the development dependencies, because every start needs the compiler.
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  runNpm(args, 'npm ci');
}

export async function build() {
  const program = at('packages', 'service', 'dist', 'program', 'main.js');
  if (!existsSync(program)) say('  compiling');
  // Uses one checker, because each of several checkers would infer the same types again.
  const compiler = [at('node_modules', 'typescript', 'bin', 'tsc'), '--build', '--checkers', '1', at('tsconfig.json')];
  run(process.execPath, compiler, 'the compiler');
  // Imports bundle.mjs only here, because in a new checkout its dependencies are missing until `install` has run.
  if (!isNewerThanCompiled(program, ['wire', 'embedded-postgres', 'service']))
    await (await import('./bundle.mjs')).bundleService();
  if (!isNewerThanCompiled(at('packages', 'sdk', 'dist', 'index.js'), ['wire', 'sdk', 'developers']))
    await (await import('./bundle.mjs')).bundleSdk();
  if (isOlderThanSources(at('packages', 'service', 'dist', 'pages', 'console', 'index.html'), 'console'))
    await (await import('./console.mjs')).buildConsole();
  if (isOlderThanSources(at('packages', 'service', 'dist', 'pages', 'developers', 'index.html'), 'developers'))
    await (await import('./developers.mjs')).buildDevelopers();
}

function isNewerThanCompiled(program, packages) {
  if (!existsSync(program)) return false;
  const compiled = packages.map((name) => at('packages', name, 'tsconfig.tsbuildinfo'));
  return compiled.every((place) => statSync(place).mtimeMs < statSync(program).mtimeMs);
}

/** Other inputs of the pages: roles that the console shares with the service, and what the developers' pages show. */
export const SHARED_SOURCES = {
  console: () => [at('packages', 'service', 'dist', 'operator', 'people', 'roles.js')],
  developers: () => [
    at('packages', 'wire', 'tsconfig.tsbuildinfo'),
    ...listFiles(at('packages', 'wire', 'vectors')),
    at('CHANGELOG.md'),
    ...['bin/perennial-channel.js', 'dist/index.js', 'package.json', 'README.md'].map((name) =>
      at('packages', 'sdk', name),
    ),
    ...['python', 'java', 'go', 'php', 'sh', 'collection'].flatMap((name) => listFiles(at('examples', name))),
  ],
};

const listFiles = (folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => path.join(folder, name));

function isOlderThanSources(page, name) {
  if (!existsSync(page)) return true;
  const folder = at('packages', name);
  const own = listFiles(folder).filter((place) => !/^(dist|dev)\b|\.tsbuildinfo$/.test(path.relative(folder, place)));
  const shared = [at('package-lock.json'), ...SHARED_SOURCES[name]()];
  return [...own, ...shared].some((place) => statSync(place).mtimeMs > statSync(page).mtimeMs);
}

/** Runs `work` under a lock, so that a second command in a fresh clone waits for the first. */
async function alone(work) {
  const lock = at('.preparing');
  for (;;) {
    try {
      mkdirSync(lock);
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      if (isAbandoned(lock)) rmSync(lock, { recursive: true, force: true });
      else await delay(200);
    }
  }
  const release = () => rmSync(lock, { recursive: true, force: true });
  process.once('exit', release);
  writeFileSync(path.join(lock, 'pid'), String(process.pid));
  await work();
  release();
  process.removeListener('exit', release);
}

function isAbandoned(lock) {
  try {
    process.kill(Number(readFileSync(path.join(lock, 'pid'), 'utf8')), 0);
    return false;
  } catch (error) {
    // There is no pid file: the owner has just created the folder, or died before it wrote the file.
    if (error.code === 'ENOENT') return existsSync(lock) && Date.now() - statSync(lock).mtimeMs > 5000;
    return error.code === 'ESRCH';
  }
}
