import { afterAll, beforeAll, expect, it } from 'vitest';
import { importCodes, setFulfilment } from '../../src/operator/provisioning/benefits.js';
import { claim, claimsOf, codesOf, linkIn, type Stage, stage } from './support.js';

/** Codes may be whole addresses. Drawn, each is several KB. */

let on: Stage;
beforeAll(async () => {
  on = await stage();
  const { operator, clock } = on.service;
  const codes = Array.from({ length: 12 }, (_, n) => `https://supplier.example/c/${'0123456789'.repeat(17)}${n + 100}`);
  await setFulfilment(operator, { benefitCode: 'COUPON', kind: 'pool' });
  const file = (async function* () {
    yield Buffer.from(codes.join('\n'));
  })();
  await importCodes({ ...operator, clock }, { benefitCode: 'COUPON', file });
});
afterAll(() => on.close());

it('all are there as text, some as pictures, and each picture is a link away, below 50 KB', async () => {
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
