// Runs the proofs that a release needs and that take too long for `npm test`. proofs.mjs has the table.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { prepare, root } from './prepare.mjs';
import { requirePrograms } from './programs.mjs';
import { PROOFS } from './proofs.mjs';

const HELP = `npm run prove                        all of them
npm run prove -- ci                  those with a short form, in that form, of a few minutes each
npm run prove -- NAME [options]      one; --short for less of it, anything else goes to its tests or its program
npm run prove -- --list              what there is, what it needs, and minutes on two cores
`;

const [name, ...args] = process.argv.slice(2);
const proof = PROOFS.find((one) => one.name === name);
const isShort = args[0] === '--short';

if (name === '--list') list();
else if (name === undefined) proveAll(PROOFS, []);
else if (name === 'ci')
  proveAll(
    PROOFS.filter(({ minutes }) => minutes.length > 1),
    ['--short'],
  );
else if (proof !== undefined) await prove(proof);
else {
  process.stderr.write(HELP);
  process.exitCode = 1;
}

function list() {
  const rows = PROOFS.map(({ name, minutes: [whole, short], needs, proves }) => [
    name,
    short === undefined ? `${whole}` : `${whole} (${short})`,
    `${proves}${needs.length > 0 ? `\nneeds ${needs.join(', ')}` : ''}`,
  ]);
  const line = (first, second, rest) =>
    `${first.padEnd(12)}${second.padEnd(10)}${rest.replace('\n', `\n${' '.repeat(22)}`)}\n`;
  process.stdout.write(line('proof', 'minutes', 'what it proves (in brackets: minutes with --short)'));
  for (const row of rows) process.stdout.write(line(...row));
}

/** Runs the proofs one after the other, each as a separate command. */
function proveAll(proofs, options) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'perennial-prove-'));
  const failedTests = path.join(folder, 'failed-tests');
  writeFileSync(failedTests, '');
  const env = { ...process.env, FAILED_TESTS: failedTests };
  const lines = proofs.map((one) => {
    const begun = performance.now();
    const command = [import.meta.filename, one.name, ...options];
    const { status } = spawnSync(process.execPath, command, { stdio: 'inherit', env });
    const seconds = ((performance.now() - begun) / 1000).toFixed(0);
    return {
      isProven: status === 0,
      text: `${status === 0 ? '✓' : '×'} ${one.name.padEnd(12)}${seconds.padStart(5)} s`,
    };
  });
  const failed = lines.filter(({ isProven }) => !isProven).length;
  const total = failed === 0 ? `${lines.length} passed` : `${failed} failed | ${lines.length - failed} passed`;
  const again = readFileSync(failedTests, 'utf8');
  rmSync(folder, { recursive: true });
  process.stdout.write(`\n${lines.map(({ text }) => ` ${text}\n`).join('')}\n${again}\n`);
  process.stdout.write(` Proofs  ${total} (${lines.length})\n`);
  process.exitCode = failed === 0 ? 0 : 1;
}

async function prove({ needs, tests = [], also = [], program, isAlone = false }) {
  await prepare();
  Object.assign(process.env, requirePrograms(needs));
  const options = args.filter((one) => one !== '--short');
  // Skips the tests if options are given and there is a program, because the options are for the program.
  if (tests.length > 0 && (program === undefined || options.length === 0)) {
    const files = [...tests, ...also];
    const absent = files.filter((file) => !existsSync(path.join(root, file)));
    if (absent.length > 0) throw new Error(`there is no ${absent.join(', ')}`);
    const { runTests } = await import('./vitest.mjs');
    const more = isAlone && !isShort ? [...options, '--no-file-parallelism'] : options;
    const status = runTests([...files, ...more], { LONG_RUNS: isShort ? 'off' : 'on' });
    if (status !== 0) process.exit(status);
  }
  if (program === undefined) return;
  process.argv.splice(2, 1);
  const place = path.join(root, 'packages', 'service', 'prove', program);
  if (program.endsWith('.mjs')) await import(pathToFileURL(place).href);
  else await proveInTypeScript(place);
}

/** Loads the program with Vite, because it is TypeScript, and runs it. */
async function proveInTypeScript(place) {
  const { runnerImport } = await import('vite');
  const { module } = await runnerImport(place, { root, logLevel: 'error', configFile: false });
  await module.default(args, { root });
  process.exit();
}
