/** An agreement: a payment method attached to a customer, shared as `cus_…/pm_…`. */
export interface Agreement {
  readonly customer: string;
  readonly paymentMethod: string;
}

// Cards saved before payment methods existed are `card_…` or `src_…` and work the same way.
const FORM = /^(cus_[A-Za-z0-9_]+)\/((?:pm|card|src)_[A-Za-z0-9_]+)$/;

export function parseAgreement(institutionNo: string): Agreement | undefined {
  const [, customer, paymentMethod] = FORM.exec(institutionNo) ?? [];
  return customer === undefined || paymentMethod === undefined ? undefined : { customer, paymentMethod };
}

export function formatAgreement({ customer, paymentMethod }: Agreement): string {
  return `${customer}/${paymentMethod}`;
}

/** Returns the id of a Stripe object. Stripe returns either the id alone or, if expanded, the whole object. */
export function idOf(value: string | { readonly id: string } | null | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.id;
}
