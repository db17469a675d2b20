import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type RunningOut, runningOut } from '../../src/delivery/transport/running-out.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

it('each runs out after its time, in the order in which they were added, and none that was taken away', () => {
  const over: string[] = [];
  const watched = runningOut<string>(1_000, (item) => over.push(`${item} at ${performance.now()}`));
  const since = performance.now();
  watched.add('first');
  vi.advanceTimersByTime(400);
  watched.add('taken away');
  watched.add('second');
  watched.delete('taken away');
  vi.advanceTimersByTime(10_000);
  expect(over).toEqual([`first at ${since + 1_000}`, `second at ${since + 1_400}`]);
});

it('what is added when one runs out starts no second timer, and keeps the next one waiting no longer', () => {
  const over: string[] = [];
  const watched: RunningOut<string> = runningOut<string>(1_000, (item) => {
    over.push(`${item} at ${performance.now()}`);
    if (!item.endsWith('again')) watched.add(`${item} again`);
  });
  const since = performance.now();
  for (const item of ['a', 'b', 'c']) {
    watched.add(item);
    vi.advanceTimersByTime(10);
  }
  for (let waited = 0; waited < 3_000; waited += 1) {
    vi.advanceTimersByTime(1);
    expect(vi.getTimerCount()).toBeLessThanOrEqual(1);
  }
  expect(over).toEqual([
    ...['a', 'b', 'c'].map((item, index) => `${item} at ${since + 1_000 + 10 * index}`),
    ...['a', 'b', 'c'].map((item, index) => `${item} again at ${since + 2_000 + 10 * index}`),
  ]);
});
