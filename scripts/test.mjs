// The checks before a commit: format and lint, types, then tests. Needs only Node. If there is a browser, also tests
// the pages. Checks that take longer or need other programs are proofs (scripts/prove.mjs). Arguments are passed to
// vitest.
import { readdirSync } from 'node:fs';
import './lint.mjs';
import { root } from './prepare.mjs';
import './typecheck.mjs';
import { findProgram, requirePrograms } from './programs.mjs';
import { movedTests } from './proofs.mjs';
import { runTests } from './vitest.mjs';

/** The folder of the tests that need a browser. */
const BROWSER = 'packages/service/test/browser';

// CI must not skip tests: there a missing browser is installed, or the run fails.
const browser = process.env['CI'] === 'true' ? requirePrograms(['chromium']).CHROMIUM : findProgram('chromium');
const args = ['--project', '!prove-*', ...process.argv.slice(2)];
if (browser !== undefined) process.exit(runTests(args, { CHROMIUM: browser }));

const status = runTests(args, { CHROMIUM: 'none' });
const skipped = readdirSync(`${root}/${BROWSER}`)
  .map((file) => `${BROWSER}/${file}`)
  .filter((file) => file.endsWith('.test.ts') && !movedTests.includes(file));
process.stdout.write(`
 Skipped, since there is no Chromium or Chrome on this machine:

${skipped.map((file) => `   ${file}\n`).join('')}
 Install one, or set CHROMIUM to the path of one, and run npm test again.
`);
process.exit(status);
