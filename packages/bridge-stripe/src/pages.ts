import type { Stripe } from 'stripe';

/** Stripe's largest page: docs.stripe.com/api/pagination */
export const PAGE_SIZE = 100;

/** The maximum number of pages to read: no caller would wait for more. */
const MAX_PAGES = 20;

type List<Item> = (page: { limit: number; starting_after?: string }) => Promise<Stripe.ApiList<Item>>;

/**
 * Yields all items of a list. Throws if the list has more than MAX_PAGES pages, so that a part is never taken for the
 * whole.
 */
export async function* readAll<Item extends Identified>(list: List<Item>): AsyncGenerator<Item> {
  const isWhole = yield* readLatest(list, MAX_PAGES);
  if (!isWhole) throw new Error(`more than ${MAX_PAGES * PAGE_SIZE} entries at Stripe: too many to be certain`);
}

/** Yields the latest items of a list. Returns whether the list has no more items. */
export async function* readLatest<Item extends Identified>(
  list: List<Item>,
  pages: number,
): AsyncGenerator<Item, boolean> {
  let last: string | undefined;
  for (let page = 0; page < pages; page += 1) {
    const { data, has_more } = await list({
      limit: PAGE_SIZE,
      ...(last === undefined ? {} : { starting_after: last }),
    });
    yield* data;
    last = data.at(-1)?.id;
    if (!has_more || last === undefined) return true;
  }
  return false;
}

export async function findIn<Item>(
  items: AsyncIterable<Item>,
  isIt: (item: Item) => boolean,
): Promise<Item | undefined> {
  for await (const item of items) {
    if (isIt(item)) return item;
  }
  return undefined;
}

interface Identified {
  readonly id: string;
}
