import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importCodes, setFulfilment } from '../../src/operator/provisioning/benefits.js';
import { authorizeProduct, createProduct } from '../../src/operator/provisioning/products.js';
import type { Reply } from '../support/channel-client.js';
import { claim, claimsOf, codesOf, linkIn, type Ordered, type Stage, stage } from './support.js';

/** Names and codes may have 200 characters, and some characters take six bytes in a page. */

let on: Stage;
beforeAll(async () => {
  on = await stage();
});
afterAll(() => on.close());

const BENEFITS = 20;

/** An order of one period with twenty benefits whose names are made of this character. */
async function orderOf(productCode: string, character: string): Promise<Ordered> {
  const { operator } = on.service;
  await createProduct(operator, {
    productCode,
    productName: character.repeat(200),
    settlementModes: ['CHANNEL_COLLECT'],
    periodType: 'MONTH',
    period: 1,
    totalCycles: 12,
    amountCent: 100_000,
    benefits: Array.from({ length: BENEFITS }, (_, n) => ({
      benefitCode: `${productCode}_${n}`,
      name: `${character.repeat(198)}${n + 10}`,
      faceValueCent: 100,
    })),
  });
  await authorizeProduct(operator, { appId: on.channel.credentials.appId, productCode });
  return on.order({ productCode });
}

/** All pages of an order, newest first. */
async function pagesOf(order: Ordered): Promise<Reply[]> {
  const pages = [await on.get(on.link(order))];
  for (;;) {
    const last = pages.at(-1) as Reply;
    const [older] = last.text.match(/\d+ older benefits? to claim|Earlier periods/) ?? [];
    if (older === undefined) return pages;
    pages.push(await on.get(linkIn(last, older)));
  }
}

const expectSmall = (pages: readonly Reply[]) => {
  for (const { text } of pages) expect(Buffer.byteLength(text)).toBeLessThan(50_000);
};

/** A link of its own for each press: how often one may be used in a minute is not what this is about. */
async function claimAll(order: Ordered): Promise<void> {
  for (let pressed = 1; ; pressed += 1) {
    const exp = Math.floor(on.service.clock.now() / 1000) + 60 + pressed;
    let page = await on.get(on.link(order, { exp }));
    const [older] = page.text.match(/\d+ older benefits? to claim/) ?? [];
    if (claimsOf(page).size === 0 && older !== undefined) page = await on.get(linkIn(page, older));
    const [next] = claimsOf(page).keys();
    if (next === undefined) return;
    await claim(on, page, next);
  }
}

describe.each([
  ['three bytes each', 'THREE_BYTES', '权'],
  ['quotes', 'QUOTES', '"'],
])('twenty names of 200 characters, %s', (_what, productCode, character) => {
  it('every page stays below 50 KB, to claim and claimed, and everything is on one of them', async () => {
    const order = await orderOf(productCode, character);
    const toClaim = await pagesOf(order);
    expectSmall(toClaim);
    expect(toClaim.flatMap((page) => [...claimsOf(page).keys()])).toHaveLength(BENEFITS);
    await claimAll(order);
    const claimed = await pagesOf(order);
    expectSmall(claimed);
    expect(new Set(claimed.flatMap(codesOf)).size).toBe(BENEFITS);
    for (const { text } of claimed) expect(text).toContain('<svg');
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
      const file = (async function* () {
        yield Buffer.from(`code\n"${(character.repeat(198) + (n + 10)).replaceAll('"', '""')}"\n`);
      })();
      await importCodes({ ...operator, clock }, { benefitCode, file });
    }
    await claimAll(order);
    const pages = await pagesOf(order);
    expectSmall(pages);
    expect(new Set(pages.flatMap(codesOf)).size).toBe(BENEFITS);
    for (const page of pages) {
      const without = page.text.includes('>QR code</a>') ? await on.get(linkIn(page, 'QR code')) : page;
      expectSmall([without]);
      const [first] = without.text.split('</li>').filter((item) => item.includes('<code>'));
      expect(first).toContain('<svg');
    }
  });
});
