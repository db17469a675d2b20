import { describe, expect, it } from 'vitest';
import { importCodes, setFulfilment } from '../../src/operator/provisioning/benefits.js';
import { authorizeProduct, createProduct } from '../../src/operator/provisioning/products.js';
import { fileOf } from '../fulfilment/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import type { Reply } from '../support/channel-client.js';
import { claim, claimAllsOf, claimsOf, codesOf, formOf, linkIn, type Ordered, stage } from './support.js';

/** Names and codes may have 200 characters, and some characters take six bytes in a page. */

const on = ofFile(stage);

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

/** All pages of a list. */
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

/** All of the period, with one press; answers with the page after it. */
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
  it('every page stays below 50 KB, to claim and claimed, and everything is on one of them', async () => {
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

it('codes that are whole addresses: all are there as text, some as pictures, and each picture is a link away, below 50 KB', async () => {
  const { operator, clock } = on.service;
  const addresses = Array.from(
    { length: 12 },
    (_, n) => `https://supplier.example/c/${'0123456789'.repeat(17)}${n + 100}`,
  );
  await setFulfilment(operator, { benefitCode: 'COUPON', kind: 'pool' });
  await importCodes({ ...operator, clock }, { benefitCode: 'COUPON', file: fileOf(addresses.join('\n')) });
  const order = await on.order();
  await on.advance(order, 11);
  const page = await on.get(order.path);
  const list = await on.get(linkIn(page, 'All 24 to claim'));
  for (const what of [...claimsOf(list).keys()].filter((one) => one.startsWith('Coupon'))) await claim(on, list, what);
  const codes = await on.get(order.path.replace('/redeem', '/redeem/codes'));
  expect(codesOf(codes)).toHaveLength(10);
  const drawn = codes.text.match(/<svg class="qr"/g)?.length ?? 0;
  const elsewhere = [...codes.text.matchAll(/<a class="link" href="([^"#]+)[^"]*">QR code</g)];
  expect([drawn > 0, drawn + elsewhere.length]).toEqual([true, 10]);
  expect(Buffer.byteLength(codes.text)).toBeLessThan(50_000);
  expect(Buffer.byteLength((await on.get(order.path)).text)).toBeLessThan(50_000);
  for (const [, href = ''] of elsewhere) {
    const alone = await on.get(href.replaceAll('&amp;', '&'));
    const [first] = alone.text.split('</li>').filter((item) => item.includes('<code>'));
    expect(first).toContain('<svg class="qr"');
  }
});
