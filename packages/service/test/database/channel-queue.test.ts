import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { BACKGROUND_CALLER as A_PATIENT_CALLER, NotBegun } from '../../src/platform/db/sharing/caller.js';
import {
  type ChannelQueueLimits,
  createChannelQueue,
  TooManyAtOnce,
} from '../../src/platform/db/sharing/channel-queue.js';
import { connectionShareLimits } from '../../src/platform/db/sharing/connection-shares.js';

/** Creates a queue whose work ends only when the test ends it. */
function controlled(limits: ChannelQueueLimits) {
  const line = createChannelQueue(limits);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const start = (channel: number, name: string) => {
    const taken = line.run(channel, () => {
      begun.push(name);
      return new Promise<string>((resolve) => ends.set(name, () => resolve(`${name} done`)));
    });
    // Ignores the rejection of work that still waits at the end of a test, because the rejection comes long afterwards.
    taken.catch(() => undefined);
    return taken;
  };
  const end = async (name: string) => {
    ends.get(name)?.();
    await setImmediate();
  };
  return { line, begun, start, end };
}

const PATIENT = 60_000;

describe('turns', () => {
  it('up to the limit of a channel at once; further work in order of arrival', async () => {
    const { begun, start, end, line } = controlled({ perChannel: 2, waitMs: PATIENT });
    const all = ['a', 'b', 'c', 'd'].map((name) => start(1, name));
    expect([begun, line.waiting]).toEqual([['a', 'b'], 2]);
    await end('b');
    expect(begun).toEqual(['a', 'b', 'c']);
    await end('a');
    expect([begun, line.waiting]).toEqual([['a', 'b', 'c', 'd'], 0]);
    await end('c');
    await end('d');
    expect(await Promise.all(all)).toEqual(['a done', 'b done', 'c done', 'd done']);
  });

  it('another channel does not wait for one at its limit', async () => {
    const { begun, start } = controlled({ perChannel: 1, waitMs: PATIENT });
    for (const name of ['a', 'b', 'c']) void start(1, name);
    void start(2, 'other');
    expect(begun).toEqual(['a', 'other']);
  });

  it('with a total limit channels take turns, however many calls of one channel wait', async () => {
    const { begun, start, end } = controlled({ perChannel: 2, total: 2, waitMs: PATIENT });
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) void start(1, name);
    for (const name of ['b1', 'b2']) void start(2, name);
    void start(3, 'c1');
    expect(begun).toEqual(['a1', 'a2']);
    for (const name of ['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2', 'a5']) await end(name);
    expect(begun).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2', 'a5']);
  });

  it('a channel at its own limit is skipped until it is below', async () => {
    const { begun, start, end } = controlled({ perChannel: 1, total: 2, waitMs: PATIENT });
    for (const name of ['a1', 'a2']) void start(1, name);
    void start(2, 'b1');
    void start(3, 'c1');
    expect(begun).toEqual(['a1', 'b1']);
    await end('b1');
    expect(begun).toEqual(['a1', 'b1', 'c1']);
    await end('a1');
    expect(begun).toEqual(['a1', 'b1', 'c1', 'a2']);
  });

  it('failed work frees its place', async () => {
    const line = createChannelQueue({ perChannel: 1, waitMs: PATIENT });
    await expect(line.run(1, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await expect(
      line.run(1, () => {
        throw new Error('at once');
      }),
    ).rejects.toThrow('at once');
    expect(await line.run(1, async () => 'yes')).toBe('yes');
  });

  it('429001 for work that waited too long: it was not begun, and the others keep their places', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const { begun, start, end, line } = controlled({ perChannel: 1, waitMs: 1_000 });
      void start(1, 'a');
      const late = start(1, 'late');
      vi.advanceTimersByTime(500);
      const next = start(1, 'next');
      vi.advanceTimersByTime(500);
      await expect(late).rejects.toThrow(TooManyAtOnce);
      expect(line.waiting).toBe(1);
      await end('a');
      expect(begun).toEqual(['a', 'next']);
      vi.advanceTimersByTime(10_000);
      await end('next');
      expect(await next).toBe('next done');
    } finally {
      vi.useRealTimers();
    }
  });

  it('with a rest, a place stays empty for a multiple of the task’s duration, at most a second', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      const { begun, start, end } = controlled({ perChannel: 1, waitMs: PATIENT, rest: 3 });
      const tasks = ['a', 'b', 'c'].map((name) => start(1, name));
      vi.advanceTimersByTime(100);
      await end('a');
      expect(await tasks[0]).toBe('a done');
      vi.advanceTimersByTime(299);
      await setImmediate();
      expect(begun).toEqual(['a']);
      vi.advanceTimersByTime(1);
      await setImmediate();
      expect(begun).toEqual(['a', 'b']);
      vi.advanceTimersByTime(20_000);
      await end('b');
      vi.advanceTimersByTime(1_000);
      await setImmediate();
      expect(begun).toEqual(['a', 'b', 'c']);
    } finally {
      vi.useRealTimers();
    }
  });

  it.each([
    ['a caller that has waited too long when its turn comes', 0, TooManyAtOnce],
    ['a caller that has hung up', 1, NotBegun],
  ])('%s: the work is not begun and is rejected with the reason', async (_who, patienceLeft, why) => {
    const line = createChannelQueue({ perChannel: 1, waitMs: PATIENT });
    let isWaiting = true;
    let finish = () => {};
    const first = line.run(1, () => new Promise<void>((resolve) => (finish = resolve)));
    let wasBegun = false;
    const second = line.run(
      1,
      async () => {
        wasBegun = true;
      },
      { ...A_PATIENT_CALLER, isWaiting: () => isWaiting, waitLeftMs: () => (isWaiting ? PATIENT : patienceLeft) },
    );
    isWaiting = false;
    finish();
    await first;
    await expect(second).rejects.toThrow(why);
    expect(wasBegun).toBe(false);
  });

  it('429001 at once if a thousand already wait', async () => {
    const { start, line } = controlled({ perChannel: 1, waitMs: PATIENT });
    for (let n = 0; n <= 1_000; n += 1) void start(1, `${n}`);
    await expect(start(1, 'one too many')).rejects.toThrow(TooManyAtOnce);
    expect(line.waiting).toBe(1_000);
  });
});

describe('the share of a channel', () => {
  it.each([
    [2, 1, 1],
    [3, 2, 2],
    [4, 2, 2],
    [6, 2, 4],
    [8, 2, 5],
    [16, 5, 10],
    [100, 33, 66],
  ])('of %i connections: %i for one channel, %i for all', (pool, perChannel, total) => {
    expect(connectionShareLimits(pool)).toMatchObject({ perChannel, total });
  });
});
