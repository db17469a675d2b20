import { expect, it } from 'vitest';
import type { DebitQuery } from '../../src/gateways/gateway.js';
import { createSandboxGateway } from '../../src/gateways/sandbox/sandbox-gateway.js';

const NOW = Date.parse('2026-01-15T12:00:00+08:00');
let now = NOW;
const gateway = createSandboxGateway({ now: () => now });

const debit = (more: Partial<DebitQuery>): DebitQuery => ({
  appId: 'test_demo',
  attemptNo: '1',
  amountCent: 1990,
  orderNo: '1',
  cycleNo: 1,
  externalOrderNo: 'own-1',
  startedAt: NOW,
  ...more,
});
const ask = async (more: Partial<DebitQuery>, at = NOW) => {
  now = at;
  return (await gateway.queryDebit(debit(more))).kind;
};

it('a first debit whose order number ends in _PENDING_DECLINED is declined after 30 s', async () => {
  const externalOrderNo = 'own-1_PENDING_DECLINED';
  expect(await ask({ externalOrderNo })).toBe('pending');
  expect(await ask({ externalOrderNo }, NOW + 29_999)).toBe('pending');
  expect(await ask({ externalOrderNo }, NOW + 30_000)).toBe('declined');
  expect(await ask({ externalOrderNo: 'own-1_PENDING' }, NOW + 30_000)).toBe('success');
});

it('a renewal that time travel left open succeeds, or is declined for _RENEWAL_DECLINED; all others succeed', async () => {
  const ahead = { cycleNo: 2, startedAt: NOW + 31 * 86_400_000 };
  const externalOrderNo = 'own-1_RENEWAL_DECLINED';
  expect(await ask(ahead)).toBe('success');
  expect(await ask({ ...ahead, externalOrderNo })).toBe('declined');
  expect(await ask({ cycleNo: 2, externalOrderNo })).toBe('success');
  expect(await ask({ externalOrderNo })).toBe('success');
});
