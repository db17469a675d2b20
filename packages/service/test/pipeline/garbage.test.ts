import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import type { Answer } from '../../src/platform/answers/answer.js';
import { BACKGROUND_CALLER } from '../../src/platform/db/sharing/caller.js';
import { createIdempotentRunner } from '../../src/platform/idempotency/run-once.js';
import { LinkedList, type Place } from '../../src/platform/linked-list.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options?: { type: 'minor' }) => void;

const ITEMS = 2_000;
const UNDER_WAY = 16;
const ITEM_BYTES = 8_000;
const createItem = () => new Array<number>(ITEM_BYTES / 8).fill(0);

const oldBytes = () =>
  getHeapSpaceStatistics()
    .filter(({ space_name }) => space_name.startsWith('old'))
    .reduce((sum, { space_used_size }) => sum + space_used_size, 0);

/** What the old generation grows by while items come and go, of which a few are there at a time. All are garbage in the end. */
async function oldGrowth(begin: (item: number[]) => () => void): Promise<number> {
  begin(createItem())();
  collect();
  collect();
  const before = oldBytes();
  const ends: (() => void)[] = [];
  for (let count = 0; count < ITEMS; count += 1) {
    ends.push(begin(createItem()));
    if (ends.length > UNDER_WAY) ends.shift()?.();
    if (count % 10 === 0) await new Promise(setImmediate);
    if (count % 500 === 499) collect({ type: 'minor' });
  }
  for (const end of ends) end();
  collect({ type: 'minor' });
  return oldBytes() - before;
}

/** A quarter of what came: it was more than half while a Set held the items, and a Map the answers. */
const LITTLE = (ITEMS * ITEM_BYTES) / 4;

it('what was in a list for a moment does not become old', async () => {
  const list = new LinkedList<number[]>();
  const growth = await oldGrowth((item) => {
    const place: Place<number[]> = list.append(item);
    return () => list.remove(place);
  });
  expect(growth).toBeLessThan(LITTLE);
});

it('nor does what the answer to a request has, though the request is found by its key meanwhile', async () => {
  const runOnce = createIdempotentRunner();
  const database = { query: () => Promise.reject(new Error('nothing is asked of the database')) };
  let requests = 0;
  const growth = await oldGrowth((item) => {
    let end: (answer: Answer) => void = () => undefined;
    const answered = new Promise<Answer>((resolve) => {
      end = resolve;
    });
    const path = '/orders/create';
    const request = {
      database,
      caller: BACKGROUND_CALLER,
      channelId: 1,
      path,
      bodySha256: Buffer.alloc(32),
      known: undefined,
    };
    requests += 1;
    void runOnce({ ...request, key: `key ${requests}` }, async (once) => {
      once.row?.finished();
      return answered;
    });
    return () => end({ code: '0', message: '', data: JSON.stringify(item.map(() => 1_234_567)) });
  });
  expect(requests).toBe(ITEMS + 1);
  expect(growth).toBeLessThan(LITTLE);
});
