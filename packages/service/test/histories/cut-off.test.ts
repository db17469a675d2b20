import { it } from 'vitest';
import { ofFile } from '../orders/stage-of-file.js';
import type { Crash } from './node.js';
import { play } from './run.js';
import type { Step } from './steps.js';
import { openWorld, PRODUCTS } from './world.js';

/**
 * Creates an order of one period many times. Each time the node dies at a different point: before or after one of its
 * commits or calls. Then the engine runs, which may complete the order, and the channel retries.
 */
const world = ofFile(openWorld);

const POINTS: readonly Crash[] = (['commit', 'call'] as const).flatMap((at) =>
  Array.from({ length: at === 'commit' ? 8 : 2 }, (_, nth) => nth).flatMap((nth) =>
    (['before', 'after'] as const).map((side) => ({ at, nth, side })),
  ),
);

/** The product of one period. */
const ONCE = PRODUCTS.findIndex(({ totalCycles }) => totalCycles === 1);

it.each(['A1', 'A2', 'B'] as const)(
  'a creation in mode %s: the resend answers what was answered before, or the order as it is',
  async (mode) => {
    for (const [index, crash] of POINTS.entries()) {
      const create: Step = {
        kind: 'create',
        mode,
        product: ONCE,
        bank: 0,
        sameAgreement: false,
        debits: [undefined],
        engineFirst: true,
        crash,
        asksAgain: true,
      };
      await play(world, { day: 42, second: 0, steps: [create] }, `cut-off-${mode}-${index}`);
    }
  },
);
