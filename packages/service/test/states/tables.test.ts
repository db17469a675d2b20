import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { agreementStatuses, type OrderStatus, orderStatuses, paymentStatuses } from '@perennial/wire';
import { describe, expect, it } from 'vitest';
import { AGREEMENT_TRANSITIONS } from '../../src/subscriptions/domain/agreements/agreement-states.js';
import { ENDED_ORDER_STATUSES, ORDER_TRANSITIONS } from '../../src/subscriptions/domain/orders/order-states.js';
import { PAYMENT_TRANSITIONS } from '../../src/subscriptions/domain/payments/payment-states.js';
import { packageRoot } from '../support/processes.js';

it('an order has ended if no trigger changes its status', () => {
  const isFinal = (status: OrderStatus) => ORDER_TRANSITIONS.every(({ from, to }) => from !== status || to === status);
  expect(ENDED_ORDER_STATUSES).toEqual(orderStatuses.filter(isFinal));
});

const root = path.join(packageRoot, 'src');
const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');

describe('the tables of states', () => {
  const code = files
    .filter((file) => !file.endsWith('states.ts'))
    .map(read)
    .join('\n');

  it.each([
    ['orders', ORDER_TRANSITIONS],
    ['periods', PAYMENT_TRANSITIONS],
    ['agreements', AGREEMENT_TRANSITIONS],
  ])('of %s: everything in them is asked for by code, and no pair stands twice', (_noun, transitions) => {
    const pairs = transitions.map(({ from, on }) => `${from} ${on}`);
    expect(new Set(pairs).size).toBe(pairs.length);
    const triggers = [...new Set(transitions.map(({ on }) => on))];
    expect(triggers.filter((on) => !code.includes(`'${on}'`))).toEqual([]);
  });

  it('are the source of all statuses in SQL: no statement names one itself', () => {
    // Leaves out statuses that attempts and refunds also have.
    const shared = ['SUCCESS', 'FAIL'];
    const words = [...orderStatuses, ...paymentStatuses, ...agreementStatuses].filter((word) => !shared.includes(word));
    const quoted = new RegExp(`'(${words.join('|')})'`);
    const texts = files
      .filter((file) => /^subscriptions\/(store|steps)|^engine|^settlement/.test(file))
      .flatMap((file) =>
        [...read(file).matchAll(/`[^`]*`/g)]
          .map(([text]) => text.replaceAll(/\$\{[^}]*\}/g, ''))
          .filter((text) => quoted.test(text))
          .map((text) => `${file}: ${quoted.exec(text)?.[0]}`),
      );
    expect(texts).toEqual([]);
  });
});
