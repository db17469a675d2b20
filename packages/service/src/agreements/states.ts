import type { AgreementStatus } from '@perennial/wire';

/** What can happen to an agreement. */
export type AgreementTrigger =
  | 'bind-sms'
  | 'confirm-right'
  | 'confirm-wrong' // this code is not the one; another may be
  | 'confirm-refused' // the institution will not have this binding
  | 'shared' // comes bound: orders/create with sharedAgreement, or agreements/replace
  | 'replaced'
  | 'canceled';

export interface AgreementTransition {
  readonly from: AgreementStatus | 'none';
  readonly on: AgreementTrigger;
  readonly to: AgreementStatus;
  readonly basis: string;
}

/** Pairs that are not here do not happen: `agreementAfter` gives nothing, and the caller says what that means. */
export const AGREEMENT_TRANSITIONS: readonly AgreementTransition[] = [
  { from: 'none', on: 'bind-sms', to: 'BIND_ING', basis: 'interface: agreementStatus' },
  { from: 'none', on: 'shared', to: 'BIND_SUCCESS', basis: 'interface: agreementStatus' },
  {
    from: 'BIND_ING',
    on: 'bind-sms',
    to: 'BIND_ING',
    basis: 'interface: second send; decision: sent again while open',
  },
  { from: 'BIND_FAIL', on: 'bind-sms', to: 'BIND_ING', basis: 'decision: a failed binding may be sent again' },
  { from: 'BIND_ING', on: 'confirm-right', to: 'BIND_SUCCESS', basis: 'interface: agreementStatus' },
  { from: 'BIND_ING', on: 'confirm-wrong', to: 'BIND_ING', basis: 'decision: a wrong code leaves the binding open' },
  { from: 'BIND_ING', on: 'confirm-refused', to: 'BIND_FAIL', basis: 'interface: agreementStatus' },
  { from: 'BIND_SUCCESS', on: 'replaced', to: 'REPLACED', basis: 'interface: agreementStatus' },
  { from: 'BIND_SUCCESS', on: 'canceled', to: 'CANCELED', basis: 'decision: unsubscribe, notice, decline or operator' },
];

export function agreementAfter(from: AgreementStatus | 'none', on: AgreementTrigger): AgreementTransition | undefined {
  return AGREEMENT_TRANSITIONS.find((row) => row.from === from && row.on === on);
}
