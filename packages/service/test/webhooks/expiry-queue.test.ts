import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createExpiryQueue, type ExpiryQueue } from '../../src/platform/expiry-queue.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

it('each item expires after its time, in the order in which they were added, unless it is deleted before', () => {
  const expired: string[] = [];
  const queue = createExpiryQueue<string>(1_000, (item) => expired.push(`${item} at ${performance.now()}`));
  const since = performance.now();
  queue.add('first');
  vi.advanceTimersByTime(400);
  const deleted = queue.add('deleted');
  queue.add('second');
  queue.delete(deleted);
  vi.advanceTimersByTime(10_000);
  expect(expired).toEqual([`first at ${since + 1_000}`, `second at ${since + 1_400}`]);
});

it('an item that fails does not keep the others from expiring', () => {
  const expired: string[] = [];
  const queue = createExpiryQueue<string>(1_000, (item) => {
    expired.push(item);
    if (item === 'bad') throw new Error('it failed');
  });
  for (const item of ['bad', 'good']) queue.add(item);
  expect(() => vi.advanceTimersByTime(1_000)).toThrow('it failed');
  queue.add('later');
  vi.advanceTimersByTime(1_001);
  expect(expired).toEqual(['bad', 'good', 'later']);
});

it('an item that is added when another expires starts no second timer, and delays no other item', () => {
  const expired: string[] = [];
  const queue: ExpiryQueue<string> = createExpiryQueue<string>(1_000, (item) => {
    expired.push(`${item} at ${performance.now()}`);
    if (!item.endsWith('again')) queue.add(`${item} again`);
  });
  const since = performance.now();
  for (const item of ['a', 'b', 'c']) {
    queue.add(item);
    vi.advanceTimersByTime(10);
  }
  for (let waited = 0; waited < 3_000; waited += 1) {
    vi.advanceTimersByTime(1);
    expect(vi.getTimerCount()).toBeLessThanOrEqual(1);
  }
  expect(expired).toEqual([
    ...['a', 'b', 'c'].map((item, index) => `${item} at ${since + 1_000 + 10 * index}`),
    ...['a', 'b', 'c'].map((item, index) => `${item} again at ${since + 2_000 + 10 * index}`),
  ]);
});
