import type { Clock, Debit, DebitOutcome, KnownDebit, NotFound } from '@perennial/bridge-kit';
import type { Stripe } from 'stripe';
import { type Agreement, idOf, parseAgreement } from './agreements.js';
import { hasRule, toDeclined } from './declines.js';
import type { Marks } from './marks.js';
import { findIn, readAll } from './pages.js';
import { isInFlight, isMissing, isRefusal } from './refusals.js';

const MINUTE_MS = 60_000;

/** The largest difference between the service's clock and Stripe's that a query allows for. */
const SKEW_MS = 10 * MINUTE_MS;

/**
 * The age from which search certainly finds a payment. Stripe's search lags by up to an hour after an outage
 * (docs.stripe.com/api/payment_intents/search); the other 15 minutes are a margin.
 */
const SEARCHABLE_AFTER_MS = 75 * MINUTE_MS;

/**
 * The age at which a payment that waits for the customer is canceled. If the payment is younger, the request that
 * created it may still be in flight.
 */
const UNFINISHED_FOR_MS = 2 * MINUTE_MS;

/** Makes Stripe include the booking: its time decides in which day's statement the payment is. */
const WITH_CHARGE = ['latest_charge.balance_transaction'];

export interface DebitsOptions {
  readonly stripe: Stripe;
  readonly marks: Marks;
  readonly currency: string;
  /** The URL that Stripe requires for payment methods that may redirect, even off session. */
  readonly returnUrl: string | undefined;
  readonly clock: Clock;
}

export class Debits {
  readonly #options: DebitsOptions;

  constructor(options: DebitsOptions) {
    this.#options = options;
  }

  /** docs.stripe.com/payments/save-and-reuse#charge-saved-payment-method */
  async debit(debit: Debit): Promise<DebitOutcome> {
    const agreement = parseAgreement(debit.institutionNo);
    if (agreement === undefined) {
      return { status: 'DECLINED', decline: 'AGREEMENT_INVALID', declineKind: 'WRONG_DETAILS', reason: NO_AGREEMENT };
    }
    const { stripe, marks } = this.#options;
    try {
      const payment = await stripe.paymentIntents.create(this.#toPayment(debit, agreement), {
        idempotencyKey: marks.idempotencyKey('debit', debit.attemptNo),
      });
      return await this.toOutcome(payment);
    } catch (error) {
      if (isInFlight(error)) return { status: 'PENDING' };
      if (isRefusal(error)) return this.#toRefused(error, agreement);
      throw error;
    }
  }

  /** Uses only fields that never change for an attemptNo, because a retry must be identical. */
  #toPayment({ attemptNo, orderNo, amountCent }: Debit, agreement: Agreement): Stripe.PaymentIntentCreateParams {
    const { marks, currency, returnUrl } = this.#options;
    return {
      amount: amountCent,
      currency,
      customer: agreement.customer,
      payment_method: agreement.paymentMethod,
      automatic_payment_methods: { enabled: true, ...(returnUrl === undefined ? { allow_redirects: 'never' } : {}) },
      ...(returnUrl === undefined ? {} : { return_url: returnUrl }),
      confirm: true,
      off_session: true,
      // Captures immediately. Otherwise a successful payment would reach the balance minutes later.
      capture_method: 'automatic',
      metadata: marks.ofDebit(attemptNo, orderNo),
      expand: WITH_CHARGE,
    };
  }

  async #toRefused(error: Stripe.errors.StripeError, agreement: Agreement): Promise<DebitOutcome> {
    if (error.payment_intent?.id !== undefined) return this.ask(error.payment_intent.id);
    if (error.code === 'resource_missing' && !['customer', 'payment_method'].includes(error.param ?? '')) {
      return toRefusedRequest(error.code);
    }
    if (hasRule(error.decline_code) || hasRule(error.code)) return toDeclined(error);
    // Stripe's refusal of a detached payment method has no code, so the bridge checks whether the payment method is
    // still attached.
    return (await this.#isAttached(agreement))
      ? toRefusedRequest(error.code)
      : toDeclined({ code: 'payment_method_unexpected_state' });
  }

  async #isAttached({ customer, paymentMethod }: Agreement): Promise<boolean> {
    try {
      const method = await this.#options.stripe.paymentMethods.retrieve(paymentMethod);
      return idOf(method.customer) === customer;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  }

  async ask(payment: string): Promise<DebitOutcome> {
    return this.toOutcome(await this.#options.stripe.paymentIntents.retrieve(payment, { expand: WITH_CHARGE }));
  }

  async find({ attemptNo, institutionNo, institutionRef, startedAt }: KnownDebit): Promise<DebitOutcome | NotFound> {
    if (institutionRef !== undefined) return this.ask(institutionRef);
    const agreement = institutionNo === undefined ? undefined : parseAgreement(institutionNo);
    const payment =
      (agreement && startedAt !== undefined && (await this.#findOfCustomer(attemptNo, agreement, startedAt))) ||
      (await this.#findOfAccount(attemptNo, startedAt));
    return payment === undefined ? { status: 'NOT_FOUND' } : this.ask(payment);
  }

  /** Uses a list, because lists are current and search is not: docs.stripe.com/search#data-freshness */
  #findOfCustomer(attemptNo: string, { customer }: Agreement, startedAt: number): Promise<string | undefined> {
    return this.#findListed(attemptNo, { customer, created: since(startedAt - SKEW_MS) });
  }

  /**
   * First reads the list of recent payments, because search may not find them yet. Then searches, if the debit can be
   * older.
   */
  async #findOfAccount(attemptNo: string, startedAt: number | undefined): Promise<string | undefined> {
    const recently = this.#options.clock.now() - SEARCHABLE_AFTER_MS;
    const from = Math.max(recently, (startedAt ?? 0) - SKEW_MS);
    const recent = await this.#findListed(attemptNo, { created: since(from) });
    return recent ?? (from > recently ? undefined : this.#search(attemptNo));
  }

  async #findListed(attemptNo: string, filter: Stripe.PaymentIntentListParams): Promise<string | undefined> {
    const { stripe, marks } = this.#options;
    const payments = readAll((page) => stripe.paymentIntents.list({ ...filter, ...page }));
    return (await findIn(payments, (payment) => marks.attemptNoOf(payment) === attemptNo))?.id;
  }

  async #search(attemptNo: string): Promise<string | undefined> {
    const { stripe, marks } = this.#options;
    const query = marks.queryOf(attemptNo);
    if (query === undefined) throw new Error('Stripe cannot search for a number with quotes or backslashes');
    const payments = stripe.paymentIntents.search({ query, limit: 100 });
    return (await findIn(payments, (payment) => marks.attemptNoOf(payment) === attemptNo))?.id;
  }

  /** docs.stripe.com/payments/paymentintents/lifecycle */
  async toOutcome(payment: Stripe.PaymentIntent): Promise<DebitOutcome> {
    switch (payment.status) {
      case 'succeeded':
        return {
          status: 'SUCCESS',
          amountCent: payment.amount_received,
          paidAt: paidAt(payment),
          institutionRef: payment.id,
        };
      case 'processing':
        return { status: 'PENDING', institutionRef: payment.id };
      case 'canceled':
        return payment.last_payment_error === null
          ? {
              status: 'DECLINED',
              decline: 'FINAL',
              declineKind: 'OTHER',
              reason: `canceled at Stripe (${payment.cancellation_reason})`,
            }
          : toDeclined(payment.last_payment_error);
      case 'requires_payment_method':
        if (payment.last_payment_error !== null) return toDeclined(payment.last_payment_error);
        return this.#giveUp(payment);
      default:
        return this.#giveUp(payment);
    }
  }

  /**
   * Cancels a payment that waits for the customer, who is absent, so that it can never be paid. If the payment was
   * completed just before, Stripe refuses to cancel it, and the payment is queried again.
   */
  async #giveUp(payment: Stripe.PaymentIntent): Promise<DebitOutcome> {
    if (this.#options.clock.now() - payment.created * 1000 < UNFINISHED_FOR_MS) {
      return { status: 'PENDING', institutionRef: payment.id };
    }
    return this.toOutcome(
      await this.#options.stripe.paymentIntents.cancel(payment.id, { cancellation_reason: 'abandoned' }),
    );
  }
}

const NO_AGREEMENT = 'the agreement number is not cus_…/pm_…';

const since = (at: number) => ({ gte: Math.floor(at / 1000) });

/** Returns the time of the booking in the balance, if known: it decides in which day's statement the payment is. */
function paidAt({ latest_charge: charge, created }: Stripe.PaymentIntent): number {
  if (charge === null || typeof charge === 'string') return created * 1000;
  const booked = charge.balance_transaction;
  return (booked === null || typeof booked === 'string' ? charge.created : booked.created) * 1000;
}

function toRefusedRequest(code = 'no code'): DebitOutcome {
  const reason = `Stripe refused the request (${code})`;
  return { status: 'DECLINED', decline: 'RETRYABLE', declineKind: 'TECHNICAL', reason };
}
