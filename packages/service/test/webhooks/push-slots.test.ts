import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { PushSlots } from '../../src/delivery/dispatcher/push-slots.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** Takes so many as are free, and watches them. */
function takeAll(slots: PushSlots) {
  const taken = [];
  while (slots.isFree()) {
    const slot = slots.take();
    slots.watch(slot);
    taken.push(slot);
  }
  return taken;
}

it('so many pushes have a place, of which slow ones give theirs up, and there are so many slow ones', () => {
  const onFreed = vi.fn();
  const slots = new PushSlots(onFreed);
  expect(takeAll(slots)).toHaveLength(256);
  vi.advanceTimersByTime(1_000);
  expect(onFreed).toHaveBeenCalledTimes(256);
  let all = 256;
  for (let taken = takeAll(slots); taken.length > 0; taken = takeAll(slots)) {
    all += taken.length;
    vi.advanceTimersByTime(1_000);
  }
  expect(all).toBe(2_048);
});

it('what has ended has no place, whether it was slow, quick or never sent', () => {
  const slots = new PushSlots(() => undefined);
  for (let round = 0; round < 3; round += 1) {
    const slow = takeAll(slots);
    vi.advanceTimersByTime(1_000);
    const quick = takeAll(slots);
    for (const slot of [...slow, ...quick]) slots.release(slot);
    for (let unsent = 0; unsent < 300; unsent += 1) slots.release(slots.take());
    expect(slots.areAllFree()).toBe(true);
    // Nothing of them becomes slow afterwards.
    vi.advanceTimersByTime(5_000);
    const again = takeAll(slots);
    expect(again).toHaveLength(256);
    for (const slot of again) slots.release(slot);
  }
});
