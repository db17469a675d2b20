import { afterAll, beforeAll, it, onTestFinished, vi } from 'vitest';
import type { Crash } from './node.js';
import { play } from './run.js';
import type { Step } from './steps.js';
import { openWorld, PRODUCTS, type World } from './world.js';

/**
 * Creates an order of one period while the node dies, in turn before and after each of its commits and calls. Then the
 * engine runs, which may complete the order, and the channel retries.
 */
let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const POINTS: readonly Crash[] = (['commit', 'call'] as const).flatMap((at) =>
  Array.from({ length: at === 'commit' ? 8 : 2 }, (_, nth) => nth).flatMap((nth) =>
    (['before', 'after'] as const).map((side) => ({ at, nth, side })),
  ),
);

const BEFORE_COMMIT: Crash = { at: 'commit', nth: 0, side: 'before' };

/** The index of the product that has one period. */
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

it('a machine that takes seconds per step does not make a node refuse requests', async () => {
  const now = performance.now.bind(performance);
  let passed = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => {
    passed += 3_000;
    return now() + passed;
  });
  onTestFinished(() => void vi.restoreAllMocks());
  const common = { order: 0, bank: 0, sameAgreement: false };
  const ends: Step = {
    kind: 'agreement ends',
    order: 0,
    by: 'operations',
    notices: 1,
    crash: BEFORE_COMMIT,
    asksAgain: false,
  };
  await play(
    world,
    {
      day: 42,
      second: 0,
      steps: [
        {
          ...common,
          kind: 'create',
          mode: 'A2',
          product: 0,
          debits: [undefined],
          engineFirst: false,
          asksAgain: false,
        },
        ends,
        { ...common, kind: 'replace', retryFailedNow: true, asksAgain: false },
      ],
    },
    'slow-machine',
  );
});
