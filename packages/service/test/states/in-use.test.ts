import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { agreementStatuses, orderStatuses, paymentStatuses } from '@perennial/wire';
import { describe, expect, it } from 'vitest';
import { AGREEMENT_TRANSITIONS } from '../../src/subscriptions/domain/agreements/agreement-states.js';
import { ORDER_TRANSITIONS } from '../../src/subscriptions/domain/orders/order-states.js';
import { PAYMENT_TRANSITIONS } from '../../src/subscriptions/domain/payments/payment-states.js';
import { packageRoot } from '../support/processes.js';

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
  ])('of %s: everything in them is asked for by code', (_noun, transitions) => {
    const triggers = [...new Set(transitions.map(({ on }) => on))];
    expect(triggers.filter((on) => !code.includes(`'${on}'`))).toEqual([]);
  });

  it('are where SQL has its statuses from: no text of it names one by itself', () => {
    // Words that attempts and refunds have as well are left out.
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
