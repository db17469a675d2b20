import { describe, expect, it } from 'vitest';
import { importCodes, setFulfilment } from '../../src/operator/provisioning/benefits.js';
import { fileOf } from '../fulfilment/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import type { Reply } from '../support/channel-client.js';
import { claimAllsOf, claimsOf, codesOf, formOf, linkIn, type Ordered, sell, stage } from './support.js';

/** Tests names and codes of 200 characters, because some characters take six bytes in a page. */

const on = ofFile(stage);

const BENEFITS = 20;

/** Creates an order of one period with twenty benefits whose names consist of this character. */
async function orderOf(productCode: string, character: string): Promise<Ordered> {
  await sell(on, {
    productCode,
    productName: character.repeat(200),
    benefits: Array.from({ length: BENEFITS }, (_, n) => ({
      benefitCode: `${productCode}_${n}`,
      name: `${character.repeat(198)}${n + 10}`,
      faceValueCent: 100,
    })),
  });
  return on.order({ productCode });
}

/** Returns all pages of a list. */
async function pagesOf(order: Ordered, list: 'benefits' | 'codes'): Promise<Reply[]> {
  const pages = [await on.get(on.link(order).replace('/redeem', `/redeem/${list}`))];
  for (;;) {
    const last = pages.at(-1) as Reply;
    if (!last.text.includes('>Show more<')) return pages;
    pages.push(await on.get(linkIn(last, 'Show more')));
  }
}

const expectSmall = (pages: readonly Reply[]) => {
  for (const { text } of pages) expect(Buffer.byteLength(text)).toBeLessThan(50_000);
};

/** Claims the whole period with one press. Returns the page that follows. */
async function claimAll(order: Ordered): Promise<Reply> {
  const page = await on.get(on.link(order));
  const period = claimAllsOf(page).get('1') ?? '';
  const { headers } = await on.post('/redeem/claim-all', { ...formOf(page), period });
  return on.get((headers.location ?? '').replace(/#.*/, ''));
}

describe.each([
  ['three bytes each', 'THREE_BYTES', '权'],
  ['quotes', 'QUOTES', '"'],
])('twenty names of 200 characters, %s', (_what, productCode, character) => {
  it('every page stays below 50 KB, claimable and claimed, and everything is on one of them', async () => {
    const order = await orderOf(productCode, character);
    const toClaim = await pagesOf(order, 'benefits');
    expectSmall([...toClaim, await on.get(on.link(order))]);
    expect(toClaim.flatMap((page) => [...claimsOf(page).keys()])).toHaveLength(BENEFITS);
    const done = await claimAll(order);
    const claimed = await pagesOf(order, 'codes');
    expectSmall([done, ...claimed, await on.get(on.link(order))]);
    expect(new Set(claimed.flatMap(codesOf)).size).toBe(BENEFITS);
    for (const { text } of [done, ...claimed]) expect(text).toContain('<svg class="qr"');
  });
});

describe('codes of 200 characters under such names', () => {
  it.each([
    ['quotes', 'QUOTES_TOO', '"'],
    ['the largest pictures', 'LARGE_TOO', '😀'],
  ])('%s: the same, and the first of each page has its picture', async (_what, productCode, character) => {
    const { operator, clock } = on.service;
    const order = await orderOf(productCode, '"');
    for (let n = 0; n < BENEFITS; n += 1) {
      const benefitCode = `${productCode}_${n}`;
      await setFulfilment(operator, { benefitCode, kind: 'pool' });
      const file = fileOf(`code\n"${(character.repeat(198) + (n + 10)).replaceAll('"', '""')}"\n`);
      await importCodes({ ...operator, clock }, { benefitCode, file });
    }
    const done = await claimAll(order);
    const pages = await pagesOf(order, 'codes');
    expectSmall([done, ...pages, await on.get(on.link(order))]);
    expect(new Set(pages.flatMap(codesOf)).size).toBe(BENEFITS);
    for (const page of pages) {
      const without = page.text.includes('>QR code</a>') ? await on.get(linkIn(page, 'QR code')) : page;
      expectSmall([without]);
      const [first] = without.text.split('</li>').filter((item) => item.includes('<code>'));
      expect(first).toContain('<svg class="qr"');
    }
  });
});
