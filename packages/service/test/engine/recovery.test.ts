import { describe, expect, it } from 'vitest';
import { recoverAllDue } from '../../src/engine/recovery/recover.js';

/** What falls due, one lease after another; then nothing. */
function dueInTurn<One>(...turns: readonly (readonly One[])[]) {
  const limits: number[] = [];
  let turn = 0;
  const lease = async (limit: number) => {
    limits.push(limit);
    const due = turns[turn] ?? [];
    turn += 1;
    return due.slice(0, limit);
  };
  return { lease, limits };
}

const neverFails = async (one: unknown, error: unknown) => {
  throw new Error(`${one} failed: ${error}`);
};

describe('what was begun elsewhere and has no end yet', () => {
  it('is leased until nothing is due, 64 at a time at most', async () => {
    const all = Array.from({ length: 150 }, (_, n) => n);
    const due = [...all];
    const limits: number[] = [];
    const finished: number[] = [];
    const count = await recoverAllDue({
      async lease(limit) {
        limits.push(limit);
        return due.splice(0, limit);
      },
      finish: async (one) => void finished.push(one),
      onFailure: neverFails,
    });
    expect(count).toBe(150);
    expect(finished.toSorted((a, b) => a - b)).toEqual(all);
    expect(Math.max(...limits)).toBe(64);
  });

  it('once stopping, nothing more is leased, and what is under way is waited for', async () => {
    let isStopping = false;
    const finished: string[] = [];
    const { lease, limits } = dueInTurn(['under way'], ['never leased']);
    const count = await recoverAllDue(
      {
        lease,
        async finish(one) {
          isStopping = true;
          await Promise.resolve();
          finished.push(one);
        },
        onFailure: neverFails,
      },
      () => isStopping,
    );
    expect(count).toBe(1);
    expect(finished).toEqual(['under way']);
    expect(limits).toHaveLength(1);
  });

  it('one that fails is told about, and keeps no other from being finished', async () => {
    const failed: string[] = [];
    const finished: string[] = [];
    const { lease } = dueInTurn(['broken', 'whole']);
    await recoverAllDue({
      lease,
      async finish(one) {
        if (one === 'broken') throw new Error('no answer');
        finished.push(one);
      },
      onFailure: async (one, error) => void failed.push(`${one}: ${error}`),
    });
    expect(failed).toEqual(['broken: Error: no answer']);
    expect(finished).toEqual(['whole']);
  });
});
