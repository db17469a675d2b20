import { BadMessage, type ReceivedWebhook, type Told, type WebhookReading } from '@perennial/bridge-kit';
import { Stripe } from 'stripe';
import { formatAgreement, idOf } from './agreements.js';
import type { Debits } from './debits.js';
import type { Marks } from './marks.js';
import { readAll } from './pages.js';
import type { Refunds } from './refunds.js';

const RECEIVED = { status: 200, contentType: 'application/json', body: '{"received":true}' } as const;

export interface WebhooksOptions {
  readonly stripe: Stripe;
  readonly marks: Marks;
  readonly debits: Debits;
  readonly refunds: Refunds;
  /** The endpoint's `whsec_…`. */
  readonly secret: string;
  readonly now: () => number;
}

/**
 * Reads webhook events, which may arrive twice and in any order (docs.stripe.com/webhooks#event-ordering). An event
 * about a payment or refund is only a hint: the bridge queries the current state from Stripe.
 */
export class Webhooks {
  readonly #options: WebhooksOptions;

  constructor(options: WebhooksOptions) {
    this.#options = options;
  }

  async read({ headers, body }: ReceivedWebhook): Promise<WebhookReading | undefined> {
    const event = this.#verify(headers['stripe-signature'], body);
    if (event === undefined) return undefined;
    if (typeof event?.type !== 'string') throw new BadMessage('the body is no event');
    return { told: await this.#toTold(event), answer: RECEIVED };
  }

  /** Verifies the signature over the raw bytes (docs.stripe.com/webhooks/signature), and that it is not too old. */
  #verify(signature: string | readonly string[] | undefined, body: Buffer): Stripe.Event | undefined {
    const { stripe, secret, now } = this.#options;
    if (typeof signature !== 'string') return undefined;
    try {
      return stripe.webhooks.constructEvent(body, signature, secret, undefined, undefined, now());
    } catch (error) {
      if (error instanceof Stripe.errors.StripeSignatureVerificationError) return undefined;
      if (error instanceof SyntaxError) throw new BadMessage('the body is not JSON');
      throw error;
    }
  }

  async #toTold(event: Stripe.Event): Promise<readonly Told[]> {
    switch (event.type) {
      case 'payment_intent.succeeded':
      case 'payment_intent.payment_failed':
      case 'payment_intent.processing':
      case 'payment_intent.requires_action':
      case 'payment_intent.canceled':
        return this.#ofDebit(objectOf(event));
      case 'charge.refunded':
        return this.#ofCharge(objectOf(event));
      case 'refund.created':
      case 'refund.updated':
      case 'refund.failed':
      case 'charge.refund.updated':
        return this.#ofRefund(objectOf(event));
      case 'payment_method.detached':
        return this.#ofDetached(objectOf(event), event.data.previous_attributes);
      default:
        return [];
    }
  }

  async #ofDebit(payment: Stripe.PaymentIntent): Promise<readonly Told[]> {
    const attemptNo = this.#options.marks.attemptNoOf(payment);
    if (attemptNo === undefined) return [];
    return [{ about: 'debit', attemptNo, outcome: await this.#options.debits.ask(payment.id) }];
  }

  async #ofRefund(refund: Stripe.Refund): Promise<readonly Told[]> {
    const refundNo = this.#options.marks.refundNoOf(refund);
    if (refundNo === undefined) return [];
    return [{ about: 'refund', refundNo, outcome: await this.#options.refunds.ask(refund.id) }];
  }

  /**
   * Reports all refunds of the charge, because the event does not say which refund has changed:
   * docs.stripe.com/api/events/types
   */
  async #ofCharge(charge: Stripe.Charge): Promise<readonly Told[]> {
    if (this.#options.marks.attemptNoOf(charge) === undefined) return [];
    const refunds = readAll((page) => this.#options.stripe.refunds.list({ charge: charge.id, ...page }));
    const told: Told[] = [];
    for await (const refund of refunds) told.push(...(await this.#ofRefund(refund)));
    return told;
  }

  /** Reports the end of an agreement. The event names the former customer. Detaching is final: no query is needed. */
  #ofDetached(method: Stripe.PaymentMethod, before: Partial<Stripe.PaymentMethod> | undefined): readonly Told[] {
    const customer = idOf(before?.customer);
    if (customer === undefined) return [];
    const institutionNo = formatAgreement({ customer, paymentMethod: method.id });
    return [{ about: 'agreement-ended', institutionNo, reason: 'the payment method was detached at Stripe' }];
  }
}

/** Returns the event's object. Throws if there is none, which is possible only for event types that are unused here. */
function objectOf<About extends { readonly id: string }>({
  data,
}: {
  readonly data: { readonly object: About };
}): About {
  if (typeof data?.object?.id !== 'string') throw new BadMessage('the event says of nothing what happened');
  return data.object;
}
