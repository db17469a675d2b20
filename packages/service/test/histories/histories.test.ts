import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ofFile } from '../orders/stage-of-file.js';
import { isProof, soakSize } from '../support/soak.js';
import { play } from './run.js';
import { anyHistory } from './steps.js';
import { openWorld } from './world.js';

/**
 * Plays random histories of orders against a small model (model.ts), with real PostgreSQL and the reference
 * institution. After each step it compares model, sums, ledger, events and interface (history.ts, invariants.ts).
 * HISTORIES sets the number of histories, HISTORY_SEED the seed; `npm test` always uses the same seed. The command
 * printed after a failure repeats the history.
 */
const HISTORIES = soakSize('HISTORIES', 8, 250);
const SEED = Number(process.env['HISTORY_SEED'] ?? (isProof ? Math.floor(Math.random() * 2 ** 31) : 20_260_131));
const PATH = process.env['HISTORY_PATH'];

const world = ofFile(openWorld);

const command = (more: string) =>
  `HISTORIES=${HISTORIES} HISTORY_SEED=${SEED}${more} npx vitest run --project service packages/service/test/histories`;

it(`${HISTORIES} random histories, seed ${SEED}`, { timeout: 3_600_000 }, async () => {
  const begun = performance.now();
  const happened = new Map<string, number>();
  let played = 0;
  const result = await fc.check(
    fc.asyncProperty(anyHistory, async (plan) => {
      played += 1;
      for (const what of await play(world, plan, `history-${played}`))
        happened.set(what, (happened.get(what) ?? 0) + 1);
    }),
    { numRuns: HISTORIES, seed: SEED, ...(PATH === undefined ? {} : { path: PATH, endOnFailure: true }) },
  );
  const seconds = (performance.now() - begun) / 1000;
  const counts = [...happened].sort(([, a], [, b]) => b - a).map(([what, times]) => `${what} ${times}`);
  process.stdout.write(`${played} histories in ${seconds.toFixed(1)} s: ${counts.join(', ')}\nAgain: ${command('')}\n`);
  if (result.failed) {
    const failure = result.errorInstance instanceof Error ? result.errorInstance.message : String(result.errorInstance);
    const again = command(` HISTORY_PATH=${result.counterexamplePath}`);
    expect.fail(`${failure}\n\n${JSON.stringify(result.counterexample?.[0], null, 1)}\n\nAgain: ${again}`);
  }
});
