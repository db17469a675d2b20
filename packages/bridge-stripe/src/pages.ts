import type { Stripe } from 'stripe';

/** The most that Stripe gives at a time: docs.stripe.com/api/pagination */
export const PAGE_SIZE = 100;

/** Beyond it nobody waits for the answer any more. */
const MAX_PAGES = 20;

type List<Item> = (page: { limit: number; starting_after?: string }) => Promise<Stripe.ApiList<Item>>;

/** The items of a list, page by page. Throws before a part is taken for the whole. */
export async function* readAll<Item extends Identified>(list: List<Item>): AsyncGenerator<Item> {
  const isWhole = yield* readLatest(list, MAX_PAGES);
  if (!isWhole) throw new Error(`more than ${MAX_PAGES * PAGE_SIZE} entries at Stripe: too many to be certain`);
}

/** The latest items of a list, and whether that is all. */
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
