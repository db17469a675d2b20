import { BadSetting, type Clock, type Institution, parseCurrency, systemClock } from '@perennial/bridge-kit';
import type { Stripe } from 'stripe';
import { idOf, parseAgreement } from './agreements.js';
import { type ClientSettings, createStripeClient } from './client.js';
import { Debits } from './debits.js';
import { Marks } from './marks.js';
import { Refunds } from './refunds.js';
import { isMissing, isRefusal } from './refusals.js';
import { readStatement } from './statement.js';
import { Webhooks } from './webhooks.js';

/**
 * How long Stripe guarantees to execute a number only once: one hour less than it keeps idempotency keys
 * (docs.stripe.com/api/idempotent_requests), because of clock skew and delays.
 */
const REPEATABLE_FOR_MS = 23 * 3_600_000;

const DEFAULT_REALM = 'perennial';

export interface StripeSettings extends ClientSettings {
  /** The secret of Stripe's webhooks. If undefined, webhooks are refused, and only queries find late results. */
  readonly webhookSecret?: string | undefined;
  /** The currency of every debit, equal to the service's currency. It must have hundredths. Default: cny. */
  readonly currency?: string | undefined;
  /**
   * A name that distinguishes this bridge's payments from those of other bridges on the same account: up to 64 letters,
   * digits, `_` and `-`.
   */
  readonly realm?: string | undefined;
  /** The URL to which wallets would redirect. If undefined, payment methods that may redirect are refused. */
  readonly returnUrl?: string | undefined;
  readonly clock?: Clock | undefined;
}

export function createStripeInstitution(settings: StripeSettings): Institution {
  const { clock = systemClock, webhookSecret: secret } = settings;
  const { stripe, until } = createStripeClient(settings);
  const marks = new Marks(readRealm(settings.realm ?? DEFAULT_REALM));
  const currency = readCurrency(settings.currency ?? 'cny');
  const debits = new Debits({ stripe, marks, currency: currency.toLowerCase(), returnUrl: settings.returnUrl, clock });
  const refunds = new Refunds({ stripe, marks });
  const webhooks = secret && new Webhooks({ stripe, marks, debits, refunds, secret, now: () => clock.now() });
  return {
    name: 'stripe',
    currency,
    repeatableForMs: REPEATABLE_FOR_MS,
    debit: (debit) => debits.debit(debit),
    findDebit: (debit, signal) => until(signal, () => debits.find(debit)),
    refund: (refund) => refunds.refund(refund),
    findRefund: (refund, signal) => until(signal, () => refunds.find(refund)),
    cancelAgreement: (institutionNo, signal) => until(signal, () => detach(stripe, institutionNo)),
    statement: (day, cursor, signal) => until(signal, () => readStatement(stripe, marks, day, cursor)),
    ...(webhooks ? { readWebhook: (webhook) => webhooks.read(webhook) } : {}),
  };
}

function readCurrency(text: string): string {
  try {
    return parseCurrency(text);
  } catch (error) {
    throw new BadSetting(`STRIPE_CURRENCY: ${error instanceof Error ? error.message : error}`);
  }
}

function readRealm(realm: string): string {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(realm)) throw new Error('STRIPE_REALM must be 1 to 64 letters, digits, _ and -');
  return realm;
}

/**
 * Detaches the payment method. Succeeds too if it is already detached, belongs to another customer or is missing, or if
 * the agreement number is malformed.
 */
async function detach(stripe: Stripe, institutionNo: string): Promise<{ readonly status: 'CANCELED' }> {
  const agreement = parseAgreement(institutionNo);
  if (agreement !== undefined && (await customerOf(stripe, agreement.paymentMethod)) === agreement.customer) {
    try {
      await stripe.paymentMethods.detach(agreement.paymentMethod);
    } catch (error) {
      // Ignores Stripe's refusal if another process has detached the payment method first.
      if (!isRefusal(error) || (await customerOf(stripe, agreement.paymentMethod)) !== undefined) throw error;
    }
  }
  return { status: 'CANCELED' };
}

async function customerOf(stripe: Stripe, paymentMethod: string): Promise<string | undefined> {
  try {
    return idOf((await stripe.paymentMethods.retrieve(paymentMethod)).customer);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
