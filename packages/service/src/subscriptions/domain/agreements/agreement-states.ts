import type { AgreementStatus } from '@perennial/wire';
import { createTransitions, type Transition } from '../transitions.js';

export type AgreementTrigger =
  | 'bind-sms'
  | 'confirm-right'
  | 'confirm-wrong' // the code is wrong; another code may be right
  | 'confirm-refused' // the institution refuses the binding for good
  | 'shared' // bound from the start: orders/create with sharedAgreement, or agreements/replace
  | 'replaced'
  | 'bound-again' // another binding of the same card takes its place
  | 'canceled';

export interface AgreementTransition extends Transition<AgreementStatus, AgreementTrigger> {
  /** The trigger in the words of docs/interface.md. */
  readonly when: string;
}

export const AGREEMENT_TRANSITIONS: readonly AgreementTransition[] = [
  { from: 'none', on: 'bind-sms', to: 'BIND_ING', when: '`bind-sms`' },
  {
    from: 'none',
    on: 'shared',
    to: 'BIND_SUCCESS',
    when: '`orders/create` with `sharedAgreement`, or `agreements/replace`',
  },
  { from: 'BIND_ING', on: 'bind-sms', to: 'BIND_ING', when: '`bind-sms` again' },
  { from: 'BIND_FAIL', on: 'bind-sms', to: 'BIND_ING', when: '`bind-sms` again' },
  { from: 'BIND_ING', on: 'confirm-right', to: 'BIND_SUCCESS', when: 'the code is right' },
  { from: 'BIND_ING', on: 'confirm-wrong', to: 'BIND_ING', when: 'the code is wrong' },
  { from: 'BIND_ING', on: 'confirm-refused', to: 'BIND_FAIL', when: 'the institution refuses the binding' },
  { from: 'BIND_SUCCESS', on: 'replaced', to: 'REPLACED', when: '`agreements/replace`' },
  {
    from: 'BIND_SUCCESS',
    on: 'bound-again',
    to: 'REPLACED',
    when: 'the user binds the same card at the same payment channel again',
  },
  {
    from: 'BIND_SUCCESS',
    on: 'canceled',
    to: 'CANCELED',
    when: 'the last order on it is unsubscribed, an operator ends it, or the institution says that it has ended: by a notice, or declining a debit',
  },
];

export const { find: findAgreementTransition, require: requireAgreementTransition } = createTransitions<
  AgreementStatus,
  AgreementTrigger,
  AgreementTransition
>(AGREEMENT_TRANSITIONS);
