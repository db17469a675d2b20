/** An agreement is a payment method that is attached to a customer, shared as `cus_…/pm_…`. */
export interface Agreement {
  readonly customer: string;
  readonly paymentMethod: string;
}

// Cards that were saved before there were payment methods are `card_…` or `src_…`, and are used in the same way.
const FORM = /^(cus_[A-Za-z0-9_]+)\/((?:pm|card|src)_[A-Za-z0-9_]+)$/;

export function parseAgreement(institutionNo: string): Agreement | undefined {
  const [, customer, paymentMethod] = FORM.exec(institutionNo) ?? [];
  return customer === undefined || paymentMethod === undefined ? undefined : { customer, paymentMethod };
}

export function formatAgreement({ customer, paymentMethod }: Agreement): string {
  return `${customer}/${paymentMethod}`;
}

/** The id of what Stripe gives as an id, or as the whole thing where that was asked for. */
export function idOf(value: string | { readonly id: string } | null | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.id;
}
