import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { createBatcher } from '../../src/platform/db/sharing/batcher.js';
import { BACKGROUND_CALLER, NotBegun } from '../../src/platform/db/sharing/caller.js';

/** Creates a batcher whose batches end only when the test ends them. */
function controlled(slots: number, maxBatch: number, channelOf?: (item: number) => number) {
  const batches: { items: readonly number[]; end: (failure?: Error) => void }[] = [];
  const arrived: (() => void)[] = [];
  const ask = createBatcher<number, string>({
    slots,
    maxBatch,
    ...(channelOf ? { channelOf } : {}),
    run: (items) =>
      new Promise((resolve, reject) => {
        batches.push({
          items,
          end: (failure) => (failure ? reject(failure) : resolve(items.map((n) => `answer ${n}`))),
        });
        arrived.shift()?.();
      }),
  });
  const batch = async (index: number) => {
    while (!batches[index]) await new Promise<void>((resolve) => arrived.push(resolve));
    return batches[index] as (typeof batches)[number];
  };
  return { ask, batch, batches };
}

describe('batched calls', () => {
  it('calls of one turn of the event loop share a batch, and each gets its own answer', async () => {
    const { ask, batch } = controlled(2, 8);
    const answers = Promise.all([1, 2, 3].map((n) => ask(n)));
    const first = await batch(0);
    expect(first.items).toEqual([1, 2, 3]);
    first.end();
    expect(await answers).toEqual(['answer 1', 'answer 2', 'answer 3']);
  });

  it('many answers are resolved over several turns, so that other work runs in between', async () => {
    const { ask, batch } = controlled(1, 64);
    let told = 0;
    const answers = Array.from({ length: 40 }, async (_, n) => {
      await ask(n);
      told += 1;
    });
    (await batch(0)).end();
    await answers[0];
    await setImmediate();
    expect(told).toBeGreaterThan(0);
    expect(told).toBeLessThan(40);
    await Promise.all(answers);
    expect(told).toBe(40);
  });

  describe('on a busy node', () => {
    const amongMany = { ...BACKGROUND_CALLER, isNodeBusy: () => true };

    it('a small batch waits for more calls, and then runs', async () => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      try {
        const { ask, batch, batches } = controlled(2, 8);
        const one = ask(1, amongMany);
        await setImmediate();
        vi.advanceTimersByTime(9);
        expect(batches).toEqual([]);
        const two = ask(2, amongMany);
        vi.advanceTimersByTime(1);
        const first = await batch(0);
        expect(first.items).toEqual([1, 2]);
        first.end();
        expect(await Promise.all([one, two])).toEqual(['answer 1', 'answer 2']);
      } finally {
        vi.useRealTimers();
      }
    });

    it('a larger batch does not wait', async () => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      try {
        const { ask, batch } = controlled(2, 8);
        const early = [1, 2, 3].map((n) => ask(n, amongMany));
        await setImmediate();
        const late = [4, 5, 6, 7, 8].map((n) => ask(n, amongMany));
        const first = await batch(0);
        expect(first.items).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
        first.end();
        expect(await Promise.all([...early, ...late])).toHaveLength(8);
      } finally {
        vi.useRealTimers();
      }
    });
  });

  it('while every batch hangs, calls that waited too long are rejected and not begun', async () => {
    const { ask, batch, batches } = controlled(1, 2);
    const one = ask(1);
    const hanging = await batch(0);
    let isWaiting = true;
    const impatient = ask(2, { ...BACKGROUND_CALLER, isWaiting: () => isWaiting });
    isWaiting = false;
    await expect(impatient).rejects.toThrow(NotBegun);
    hanging.end();
    expect(await one).toBe('answer 1');
    const five = ask(5);
    (await batch(1)).end();
    expect(await five).toBe('answer 5');
    expect(batches.map(({ items }) => items)).toEqual([[1], [5]]);
  });

  it('while all slots are busy, further calls wait and then share a batch up to the limit', async () => {
    const { ask, batch, batches } = controlled(1, 2);
    const one = ask(1);
    const first = await batch(0);
    const rest = Promise.all([2, 3, 4].map((n) => ask(n)));
    expect(batches).toHaveLength(1);
    first.end();
    await one;
    (await batch(1)).end();
    (await batch(2)).end();
    await rest;
    expect(batches.map(({ items }) => items)).toEqual([[1], [2, 3], [4]]);
  });

  it('while a batch is in flight, further calls wait for it although a slot is free', async () => {
    const { ask, batch, batches } = controlled(2, 8);
    const one = ask(1);
    const first = await batch(0);
    const two = ask(2);
    await setImmediate();
    const three = ask(3);
    first.end();
    (await batch(1)).end();
    await Promise.all([one, two, three]);
    expect(batches.map(({ items }) => items)).toEqual([[1], [2, 3]]);
  });

  it('a full batch runs beside the one in flight', async () => {
    const { ask, batch, batches } = controlled(2, 2);
    const one = ask(1);
    const first = await batch(0);
    const rest = Promise.all([2, 3, 4].map((n) => ask(n)));
    (await batch(1)).end();
    first.end();
    (await batch(2)).end();
    await Promise.all([one, rest]);
    expect(batches.map(({ items }) => items)).toEqual([[1], [2, 3], [4]]);
  });

  it('a slow batch does not delay the next ones while slots are free', async () => {
    const { ask, batch, batches } = controlled(2, 8);
    const heldUp = ask(1);
    const first = await batch(0);
    const two = ask(2);
    (await batch(1)).end();
    expect(await two).toBe('answer 2');
    const three = ask(3);
    (await batch(2)).end();
    expect(await three).toBe('answer 3');
    first.end();
    expect(await heldUp).toBe('answer 1');
    const four = ask(4);
    const fourth = await batch(3);
    const five = ask(5);
    fourth.end();
    (await batch(4)).end();
    await Promise.all([four, five]);
    expect(batches.map(({ items }) => items)).toEqual([[1], [2], [3], [4], [5]]);
  });

  it('a failed batch fails only its own calls, and the next runs', async () => {
    const { ask, batch } = controlled(1, 8);
    const one = ask(1);
    (await batch(0)).end(new Error('gone'));
    await expect(one).rejects.toThrow('gone');
    const two = ask(2);
    (await batch(1)).end();
    expect(await two).toBe('answer 2');
  });

  it('if more calls wait than fit into a batch, channels take turns, each in its own order', async () => {
    const { ask, batch, batches } = controlled(1, 4, (item) => Math.floor(item / 100));
    const first = ask(0);
    await batch(0);
    const rest = Promise.all([101, 102, 103, 104, 105, 106, 201, 202, 301].map((n) => ask(n)));
    for (const index of [0, 1, 2, 3]) (await batch(index)).end();
    await Promise.all([first, rest]);
    expect(batches.map(({ items }) => items)).toEqual([[0], [101, 201, 301, 102], [103, 202, 104, 105], [106]]);
  });
});
