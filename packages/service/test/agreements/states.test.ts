import { agreementStatuses } from '@perennial/wire';
import { describe, expect, it } from 'vitest';
import { AGREEMENT_TRANSITIONS, type AgreementTrigger, agreementAfter } from '../../src/agreements/states.js';

const TRIGGERS: Readonly<Record<AgreementTrigger, true>> = {
  'bind-sms': true,
  'send-succeeded': true,
  'send-failed': true,
  'confirm-right': true,
  'confirm-wrong': true,
  'confirm-refused': true,
  shared: true,
  replaced: true,
  canceled: true,
};
const triggers = Object.keys(TRIGGERS) as AgreementTrigger[];
const states = ['none', ...agreementStatuses] as const;

/** Every pair that leads anywhere; all others must not. */
const EXPECTED: Readonly<Record<string, string>> = {
  'none bind-sms': 'BIND_ING',
  'none shared': 'BIND_SUCCESS',
  'BIND_ING bind-sms': 'BIND_ING',
  'BIND_ING send-succeeded': 'BIND_ING',
  'BIND_ING send-failed': 'BIND_ING',
  'BIND_ING confirm-right': 'BIND_SUCCESS',
  'BIND_ING confirm-wrong': 'BIND_ING',
  'BIND_ING confirm-refused': 'BIND_FAIL',
  'BIND_FAIL bind-sms': 'BIND_ING',
  'BIND_SUCCESS replaced': 'REPLACED',
  'BIND_SUCCESS canceled': 'CANCELED',
};

const pairs = states.flatMap((from) => triggers.map((on) => ({ from, on, to: EXPECTED[`${from} ${on}`] })));

describe('agreementStatus', () => {
  it.each(pairs)('$from, $on: $to', ({ from, on, to }) => {
    expect(agreementAfter(from, on)?.to).toBe(to);
  });

  it('has each pair once, and each row says what it rests on', () => {
    const keys = AGREEMENT_TRANSITIONS.map(({ from, on }) => `${from} ${on}`);
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys.sort()).toEqual(Object.keys(EXPECTED).sort());
    for (const { basis } of AGREEMENT_TRANSITIONS) expect(basis).toMatch(/^(interface|decision): /);
  });
});
