import type { KnownRefund, NotFound, Refund, RefundOutcome } from '@perennial/bridge-kit';
import type { Stripe } from 'stripe';
import type { Marks } from './marks.js';
import { findIn, readAll, readLatest } from './pages.js';
import { isInFlight, isRefusal } from './refusals.js';

/** The number of pages of the account's latest refunds that are read if the refund's debit is unknown. */
const LATEST_PAGES = 5;

const WITH_BOOKING = ['balance_transaction'];

export interface RefundsOptions {
  readonly stripe: Stripe;
  readonly marks: Marks;
}

export class Refunds {
  readonly #options: RefundsOptions;

  constructor(options: RefundsOptions) {
    this.#options = options;
  }

  /**
   * Stripe refuses to refund more than is left of the payment, and refuses refunds of disputed payments:
   * docs.stripe.com/api/refunds/create
   */
  async refund({ refundNo, debitRef, amountCent }: Refund): Promise<RefundOutcome> {
    const { stripe, marks } = this.#options;
    try {
      const refund = await stripe.refunds.create(
        { payment_intent: debitRef, amount: amountCent, metadata: marks.ofRefund(refundNo), expand: WITH_BOOKING },
        { idempotencyKey: marks.idempotencyKey('refund', refundNo) },
      );
      return toRefundOutcome(refund);
    } catch (error) {
      if (isInFlight(error)) return { status: 'PENDING' };
      if (isRefusal(error)) return { status: 'REFUSED', reason: `Stripe refused it: ${error.code ?? error.message}` };
      throw error;
    }
  }

  async find({ refundNo, debitRef, institutionRef }: KnownRefund): Promise<RefundOutcome | NotFound> {
    const refund = institutionRef ?? (await this.#findListed(refundNo, debitRef));
    return refund === undefined ? { status: 'NOT_FOUND' } : this.ask(refund);
  }

  /**
   * Finds a refund in lists, because Stripe cannot search refunds. If the debit is unknown, reads the account's latest
   * refunds. If the refund is not among them, the service sends it again with its debit, and the kit queries again.
   */
  async #findListed(refundNo: string, debitRef: string | undefined): Promise<string | undefined> {
    const { stripe, marks } = this.#options;
    const refunds =
      debitRef === undefined
        ? readLatest((page) => stripe.refunds.list(page), LATEST_PAGES)
        : readAll((page) => stripe.refunds.list({ payment_intent: debitRef, ...page }));
    return (await findIn(refunds, (refund) => marks.refundNoOf(refund) === refundNo))?.id;
  }

  async ask(refund: string): Promise<RefundOutcome> {
    return toRefundOutcome(await this.#options.stripe.refunds.retrieve(refund, { expand: WITH_BOOKING }));
  }
}

/** docs.stripe.com/api/refunds/object#refund_object-status */
export function toRefundOutcome(refund: Stripe.Refund): RefundOutcome {
  switch (refund.status) {
    case 'succeeded':
      return { status: 'SUCCESS', amountCent: refund.amount, refundedAt: bookedAt(refund), institutionRef: refund.id };
    case 'failed':
    case 'canceled':
      return { status: 'REFUSED', reason: `${refund.status} at Stripe (${refund.failure_reason ?? 'no reason'})` };
    default:
      // pending, or requires_action: Stripe has asked the customer for an account, and the customer may still answer.
      return { status: 'PENDING', institutionRef: refund.id };
  }
}

function bookedAt({ balance_transaction: booked, created }: Stripe.Refund): number {
  return (booked === null || typeof booked === 'string' ? created : booked.created) * 1000;
}
