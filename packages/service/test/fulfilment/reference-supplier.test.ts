import { SUPPLIER_FAULTS, SUPPLIER_OPERATIONS } from '@perennial/reference-peers';
import { hmacSha256, toBase64 } from '@perennial/wire';
import { responseSignText, signResponse } from '@perennial/wire/bridge';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ClaimToFulfil } from '../../src/fulfilment/fulfilment.js';
import { type AttachedSupplier, createSupplier } from '../../src/fulfilment/supplier.js';
import { systemClock } from '../../src/platform/clock.js';
import { readPage, tableRows } from '../docs/pages.js';
import { KEY, localSupplier, spawnSupplier, supplierFolder } from './suppliers.js';

const CLAIM: ClaimToFulfil = {
  claimNo: 'C1000100101',
  benefitCode: 'VIP_PASS',
  faceValueCent: 1500,
  orderNo: 10001,
  cycleNo: 1,
};

function adapterTo(url: string, key: Uint8Array = KEY): AttachedSupplier {
  const supplier = createSupplier({ url, key, clock: systemClock, deadlineMs: 5_000 });
  onTestFinished(() => supplier.close());
  return supplier;
}

describe('the reference supplier', () => {
  it('keeps its codes after kill -9 and after an ordinary exit', async () => {
    const folder = await supplierFolder();
    const first = await spawnSupplier({}, folder);
    const code = await adapterTo(first.url).fulfil(CLAIM);
    first.running.child.kill('SIGKILL');
    await first.running.exited;
    const second = await localSupplier(systemClock, { dataDir: folder });
    expect(await adapterTo(second.url).fulfil(CLAIM)).toEqual(code);
    await second.stop();
    const third = await localSupplier(systemClock, { dataDir: folder });
    expect(await third.handedOut()).toMatchObject([{ claimNo: CLAIM.claimNo, arrivals: 2 }]);
  });

  it('refuses another key, and a known number for another claim', async () => {
    const supplier = await localSupplier(systemClock);
    expect(await adapterTo(supplier.url, Buffer.alloc(32, 1)).fulfil(CLAIM)).toEqual({ kind: 'unknown' });
    const adapter = adapterTo(supplier.url);
    await adapter.fulfil(CLAIM);
    expect(await adapter.fulfil({ ...CLAIM, faceValueCent: 0 })).toEqual({ kind: 'unknown' });
    expect(await adapter.fulfil({ ...CLAIM, claimNo: 'C2', faceValueCent: 0 })).toMatchObject({ kind: 'fulfilled' });
    expect(await supplier.handedOut()).toHaveLength(2);
  });

  it('removes faults, and has no control interface by default', async () => {
    const supplier = await localSupplier(systemClock);
    await supplier.fault('refuse');
    expect((await supplier.control({ action: 'clear' })).status).toBe(200);
    expect(await adapterTo(supplier.url).fulfil(CLAIM)).toMatchObject({ kind: 'fulfilled' });
    const closed = await localSupplier(systemClock, { control: false });
    expect((await fetch(`${closed.url}/ledger`)).status).toBe(404);
    expect((await closed.control({ action: 'clear' })).status).toBe(404);
  });
});

describe('docs/supplier.md', () => {
  const section = async (title: RegExp) => {
    const [, text = ''] = (await readPage('docs/supplier.md')).split(title);
    return tableRows(text.split(/^##/m)[0] ?? '');
  };

  it('lists every operation and every fault, and no other', async () => {
    const paths = (await section(/^## Operations$/m)).map(([name = '']) => name);
    expect(paths).toEqual(SUPPLIER_OPERATIONS.map((name) => `/${name}`));
    expect(await section(/^### Faults$/m)).toEqual(SUPPLIER_FAULTS.map(({ name, does }) => [name, does]));
  });

  it('signs its example as the code does', async () => {
    const page = await readPage('docs/supplier.md');
    const key = Buffer.from(/Key `([^`]+)`/.exec(page)?.[1] ?? '', 'base64');
    const [request = '', signText = '', answer = '', answerText = ''] = [
      ...(page.split('### Example')[1] ?? '').matchAll(/```\n([\s\S]*?)\n```/g),
    ].map(([, text]) => text);
    expect(Object.keys(JSON.parse(request))).toEqual(['claimNo', 'benefitCode', 'faceValueCent', 'orderNo', 'cycleNo']);
    expect(Object.keys(JSON.parse(answer))).toEqual(['claimNo', 'status', 'code']);
    expect(page).toContain(`\`${toBase64(hmacSha256(key, signText))}\``);
    const nonce = signText.split('\n')[5] ?? '';
    expect(responseSignText('/fulfil', nonce, Buffer.from(answer))).toBe(answerText);
    expect(page).toContain(`\`${signResponse('/fulfil', nonce, Buffer.from(answer), key)}\``);
  });
});
