import { expect, it } from 'vitest';
import { shardReader } from '../../src/webhooks/shard-reader.js';

const NOW = Date.UTC(2026, 10, 15, 4, 0, 0);
const at = (ms: number) => new Date(ms).toISOString();
const read = (ms: number) => ({ shard: 0, nextAt: at(ms), eventNo: 1, cycleNo: 0 });

/** Seconds after its first reading at which it looks back, when it has always come to the present. */
function looksBack(known: number, seconds: number): number[] {
  const reader = shardReader();
  reader.position(NOW, known);
  const found: number[] = [];
  for (let second = 1; second <= seconds; second += 1) {
    const now = NOW + second * 1000;
    reader.took([read(now - 1)], false);
    if (Date.parse(reader.position(now, known).nextAt) < now - 1) found.push(second);
  }
  return found;
}

it.each([
  ['few events in memory: every second', 1_000, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]],
  ['many: every five seconds', 1_001, [5, 10]],
])('what is committed late is looked for, with %s', (_, known, seconds) => {
  expect(looksBack(known, 11)).toEqual(seconds);
});
