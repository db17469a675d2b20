import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { packageRoot, start } from '../support/processes.js';

/** What became of one attack: see README.md in this folder. */
interface Result {
  readonly attack: string;
  readonly requests: number;
  /** How many of the attack's requests ended how: by code, or by what the network said. */
  readonly ended: Readonly<Record<string, number>>;
  readonly bystander: { readonly answers: number; readonly failures: Readonly<Record<string, number>> };
  readonly peakMb?: number;
  readonly node: string;
  /** What the attack got that it must not get, in words. */
  readonly findings: readonly string[];
}

const ATTACKS = [
  'long-lists',
  'silent-readers',
  'large-bodies',
  'replays',
  'far-pages',
  'over-the-rate',
  'stored-links',
  'padding-oracle',
  'strangers',
];

/** With the small numbers that are sent here, a node that holds what it should not hold is past this. */
const PEAK_MB = 512;

const results = new Map<string, Result>();
const resultOf = (attack: string): Result => {
  const result = results.get(attack);
  if (!result) throw new Error(`${attack} was not made`);
  return result;
};

/** All attacks in their short form, on a service that is a process of its own. How long anything took is not looked at. */
beforeAll(async () => {
  const all = path.join(packageRoot, 'test', 'abuse', 'all.mjs');
  const running = start(all, {}, ['--short', '--json']);
  await running.exited;
  if (!running.stdout().startsWith('[')) throw new Error(running.stderr());
  for (const result of JSON.parse(running.stdout()) as Result[]) results.set(result.attack, result);
}, 240_000);

describe('attacks', () => {
  it('are all made', () => {
    expect([...results.keys()]).toEqual(ATTACKS);
    expect([...results.values()].filter(({ requests }) => requests === 0)).toEqual([]);
  });

  it.each(ATTACKS)(
    '%s: a bystander has every right answer, the node lives and does not grow, nothing is got',
    (attack) => {
      const { bystander, node, findings, peakMb } = resultOf(attack);
      expect(findings).toEqual([]);
      expect(bystander.failures).toEqual({});
      expect(bystander.answers).toBeGreaterThan(0);
      expect(node).toBe('alive');
      // Elsewhere than on Linux nobody knows what another process holds.
      if (process.platform === 'linux') expect(peakMb).toBeLessThan(PEAK_MB);
    },
  );

  it.each(['over-the-rate', 'padding-oracle'])('%s: is slowed down with 429001', (attack) => {
    expect(resultOf(attack).ended).toHaveProperty('429001');
  });

  it('strangers: are told what is wrong with their requests', () => {
    const { ended } = resultOf('strangers');
    expect(Object.keys(ended)).toEqual(expect.arrayContaining(['401001', '401002', '401003', '401004']));
  });
});
