import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { listAudit } from '../../src/operator/audit/audit.js';
import type { Operator } from '../../src/operator/operator.js';
import {
  listBenefits,
  type SetFulfilmentInput,
  setFulfilment,
  showBenefit,
} from '../../src/operator/provisioning/benefits.js';
import { dump } from '../operator/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { KEY } from './suppliers.js';
import { claimStage } from './support.js';

const on = ofFile(claimStage);

const URL_HERE = 'https://supplier.example/codes';
const supplier = (more: Partial<SetFulfilmentInput> = {}) => ({
  benefitCode: 'VIP_PASS',
  kind: 'supplier',
  supplierUrl: URL_HERE,
  supplierKey: KEY,
  ...more,
});
const auditOf = (subject: string) => listAudit(on.operator, { subject });

describe('the source of codes', () => {
  it('is GENERATED for every benefit of a product by default', async () => {
    expect(await listBenefits(on.operator)).toMatchObject([
      { benefitCode: 'COUPON', kind: 'GENERATED', products: ['TEST_SPU_001'], codesLeft: 0, waitingClaims: 0 },
      { benefitCode: 'DAY_PASS', kind: 'GENERATED', products: ['TEST_SPU_DAILY_7'] },
      { benefitCode: 'MONTH_PASS', kind: 'GENERATED', products: ['TEST_SPU_ONCE'] },
      { benefitCode: 'VIP_PASS', kind: 'GENERATED', supplierUrl: null, waitingSince: null },
    ]);
    expect(await setFulfilment(on.operator, { benefitCode: 'COUPON', kind: 'generated' })).toMatchObject({
      changed: false,
    });
    expect(await auditOf('COUPON')).toEqual([]);
  });

  it('is set, changed and audited, without the key', async () => {
    expect(await setFulfilment(on.operator, supplier())).toMatchObject({
      kind: 'SUPPLIER',
      supplierUrl: URL_HERE,
      changed: true,
    });
    expect(await setFulfilment(on.operator, supplier())).toMatchObject({ changed: false });
    const key = randomBytes(32);
    expect(await setFulfilment(on.operator, supplier({ supplierKey: key }))).toMatchObject({ changed: true });
    expect(await setFulfilment(on.operator, { benefitCode: 'VIP_PASS', kind: 'pool' })).toMatchObject({
      kind: 'POOL',
      supplierUrl: URL_HERE,
    });
    expect(await setFulfilment(on.operator, { benefitCode: 'VIP_PASS', kind: 'supplier' })).toMatchObject({
      kind: 'SUPPLIER',
    });
    const told = (await auditOf('VIP_PASS')).map(({ action, detail }) => ({ action, detail }));
    const of = (kind: string) => ({ kind, supplierUrl: URL_HERE });
    expect(told.toReversed()).toEqual([
      {
        action: 'benefit.set-fulfilment',
        detail: { from: { kind: 'GENERATED', supplierUrl: null }, to: of('SUPPLIER'), newKey: true },
      },
      { action: 'benefit.set-fulfilment', detail: { from: of('SUPPLIER'), to: of('SUPPLIER'), newKey: true } },
      { action: 'benefit.set-fulfilment', detail: { from: of('SUPPLIER'), to: of('POOL') } },
      { action: 'benefit.set-fulfilment', detail: { from: of('POOL'), to: of('SUPPLIER') } },
    ]);
    expect(await dump(on.database)).not.toContain(key.toString('base64'));
  });

  const production: Partial<Operator> = { environment: 'production' };
  it.each<[string, Partial<SetFulfilmentInput>, RegExp, Partial<Operator>?]>([
    ['a code in small letters', { benefitCode: 'vip' }, /benefit code must be/],
    ['another kind', { kind: 'magic' }, /kind must be generated or pool or supplier/],
    ['an address without a supplier', { kind: 'pool' }, /only be set for a supplier/],
    ['a short key', { supplierKey: KEY.subarray(1) }, /32 bytes/],
    ['http', { supplierUrl: 'http://supplier.example' }, /must start with https/],
    ['http to this machine in production', { supplierUrl: 'http://127.0.0.1:1' }, /must start with https/, production],
    ['a password', { supplierUrl: 'https://a:b@supplier.example' }, /user name or password/],
    ['a query', { supplierUrl: 'https://supplier.example/?a=b' }, /query/],
    ['a fragment', { supplierUrl: 'https://supplier.example/#a' }, /fragment/],
    ['no address at all', { supplierUrl: 'supplier' }, /not a complete address/],
  ])('is refused with %s, and nothing changes', async (_what, more, why, as = {}) => {
    const before = await dump(on.database);
    await expect(
      setFulfilment({ ...on.operator, ...as }, supplier({ benefitCode: 'DAY_PASS', ...more })),
    ).rejects.toThrow(why);
    expect(await dump(on.database)).toBe(before);
  });

  it('a refused import imports nothing', async () => {
    await expect(on.import('DAY_PASS', 'A\nB\n\u0000\n')).rejects.toThrow('line 3 of the codes');
    expect(await showBenefit(on.operator, { benefitCode: 'DAY_PASS' })).toMatchObject({ codesLeft: 0 });
    expect(await auditOf('DAY_PASS')).toEqual([]);
  });
});
