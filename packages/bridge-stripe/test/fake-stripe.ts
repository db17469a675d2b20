import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/**
 * A fake of the part of Stripe that the bridge uses, on loopback, written from Stripe's documentation. Each rule names
 * its page. Records are in memory: tests compare `payments` and `refunds` with the bridge's results.
 */

/** The behaviour of payment methods, by the names of docs.stripe.com/testing?testing-method=payment-methods. */
export const TEST_CARDS = {
  pm_card_visa: {},
  pm_card_visa_chargeDeclined: { code: 'card_declined', decline_code: 'generic_decline' },
  pm_card_visa_chargeDeclinedInsufficientFunds: { code: 'card_declined', decline_code: 'insufficient_funds' },
  pm_card_visa_chargeDeclinedLostCard: { code: 'card_declined', decline_code: 'lost_card' },
  pm_card_visa_chargeDeclinedStolenCard: { code: 'card_declined', decline_code: 'stolen_card' },
  pm_card_chargeDeclinedExpiredCard: { code: 'expired_card' },
  pm_card_chargeDeclinedIncorrectCvc: { code: 'incorrect_cvc' },
  pm_card_chargeDeclinedProcessingError: { code: 'processing_error' },
  /** The bank's answer after the customer has disputed a payment: docs.stripe.com/declines/codes */
  pm_card_revoked: { code: 'card_declined', decline_code: 'revocation_of_authorization' },
  pm_card_radarBlock: { code: 'card_declined', decline_code: 'fraudulent' },
  // Off session: docs.stripe.com/declines/codes, authentication_required
  pm_card_authenticationRequired: { code: 'authentication_required', decline_code: 'authentication_required' },
  // The bank gives advice beside a generic code: docs.stripe.com/declines/card#retrying-issuer-declines
  declined_with_advice: { code: 'card_declined', decline_code: 'generic_decline', advice_code: 'do_not_try_again' },
  // Bank debits stay in processing for days: docs.stripe.com/payments/paymentintents/lifecycle
  pm_usBankAccount_processing: { processing: true },
  // A method that needs the customer: docs.stripe.com/payments/paymentintents/lifecycle, requires_action
  wants_customer: { waits: true },
  // A wallet that redirects: docs.stripe.com/api/payment_intents/create, automatic_payment_methods.allow_redirects
  leads_elsewhere: { redirects: true },
  // docs.stripe.com/testing#refunds
  pm_card_pendingRefund: { refund: 'pending' },
} as const satisfies Record<string, Behaviour>;
export type TestCard = keyof typeof TEST_CARDS;

interface Behaviour {
  readonly code?: string;
  readonly decline_code?: string;
  readonly advice_code?: string;
  readonly processing?: boolean;
  readonly waits?: boolean;
  readonly redirects?: boolean;
  readonly refund?: 'pending';
}

type Json = Record<string, unknown>;
type Metadata = Record<string, string>;

export interface FakePayment {
  readonly id: string;
  readonly amount: number;
  readonly currency: string;
  readonly created: number;
  readonly customer: string;
  readonly payment_method: string;
  readonly metadata: Metadata;
  status: string;
  last_payment_error: Json | null;
  cancellation_reason: string | null;
  charge: FakeCharge | undefined;
  /** Set if only a part was paid: docs.stripe.com/api/payment_intents/object#payment_intent_object-amount_received */
  received?: number;
}

interface FakeCharge {
  readonly id: string;
  readonly payment: FakePayment;
  readonly created: number;
  status: 'succeeded' | 'pending' | 'failed';
  balance_transaction: string | null;
}

export interface FakeRefund {
  readonly id: string;
  readonly amount: number;
  readonly created: number;
  readonly payment: FakePayment;
  readonly metadata: Metadata;
  status: string;
  failure_reason?: string;
  balance_transaction: string | null;
}

/** A dispute has its own metadata, not the payment's: docs.stripe.com/api/disputes/object */
interface FakeDispute {
  readonly id: string;
  readonly object: 'dispute';
  readonly charge: string | undefined;
  readonly payment_intent: string;
  readonly metadata: Metadata;
}

interface Booking {
  readonly id: string;
  readonly created: number;
  readonly type: string;
  readonly reporting_category: string;
  readonly source: FakeCharge | FakeRefund | FakeDispute | undefined;
}

/** Faults of requests, by a part of the request such as `POST /v1/refunds`. Each fault happens once. */
export type Fault =
  | 'lost-answer' // executed, then the connection breaks
  | 'lost-request' // the connection breaks before execution
  | 'error-after' // executed, and answered with 500: docs.stripe.com/error-low-level#server-errors
  | 'rate-limit' // 429: docs.stripe.com/rate-limits
  | 'bad-key' // 401
  | 'misses-something' // 400 about something other than the debit: docs.stripe.com/error-codes#resource-missing
  | 'led-away' // 307 by an intermediary, to which the key would be sent
  | 'busy'; // 429 lock_timeout: docs.stripe.com/rate-limits#object-lock-timeouts

export interface FakeEvent {
  readonly id: string;
  readonly type: string;
  readonly body: string;
}

interface Answer {
  readonly status: number;
  readonly body: Json;
}

export type FakeStripe = Awaited<ReturnType<typeof startFakeStripe>>;

export async function startFakeStripe({ now = () => Date.now() }: { readonly now?: () => number } = {}) {
  const fake = new Fake(now);
  const server = createServer((request, response) => {
    fake.serve(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(fake, {
    url,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  });
}

class Fake {
  readonly payments: FakePayment[] = [];
  readonly refunds: FakeRefund[] = [];
  readonly disputed = new Set<FakePayment>();
  readonly events: FakeEvent[] = [];
  /** Called with each event when it happens. A test can forward the event or cause more events. */
  listener: (event: FakeEvent) => void = () => undefined;
  /** Received requests, such as `POST /v1/payment_intents`. */
  readonly requests: string[] = [];
  readonly secretKey = 'sk_test_fake';
  readonly webhookSecret = 'whsec_fake';
  /**
   * The delay until search finds a new payment. At Stripe it is usually under a minute:
   * docs.stripe.com/search#data-freshness
   */
  searchLagMs = 30_000;
  readonly #now: () => number;
  readonly #methods = new Map<string, { customer: string | null; card: TestCard }>();
  readonly #customers = new Set<string>();
  readonly #bookings: Booking[] = [];
  readonly #keys = new Map<string, { params: string; answer: Answer | undefined }>();
  readonly #faults: { asked: string; fault: Fault }[] = [];
  #held: { readonly path: string; readonly until: Promise<void>; readonly arrived: () => void } | undefined;
  #count = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Returns a customer's payment method as `cus_…/pm_…`. */
  attach(card: TestCard, customer = this.#id('cus')): string {
    const method = this.#id('pm');
    this.#customers.add(customer);
    this.#methods.set(method, { customer, card });
    return `${customer}/${method}`;
  }

  fail(asked: string, fault: Fault): void {
    this.#faults.push({ asked, fault });
  }

  /** Delays the next request on the path until `letGo` is called. */
  hold(path: string): { readonly arrived: Promise<void>; letGo(): void } {
    let letGo: () => void = () => undefined;
    let arrive: () => void = () => undefined;
    const until = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const arrived = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    this.#held = { path, until, arrived: () => arrive() };
    return { arrived, letGo: () => letGo() };
  }

  /** Forgets idempotency keys, as Stripe may do after 24 hours: docs.stripe.com/api/idempotent_requests */
  forgetKeys(): void {
    this.#keys.clear();
  }

  settle(payment: FakePayment, failure?: Behaviour): void {
    if (failure === undefined) this.#succeed(payment);
    else this.#decline(payment, failure);
  }

  settleRefund(refund: FakeRefund, status: 'succeeded' | 'failed'): void {
    refund.status = status;
    if (status === 'failed') {
      refund.failure_reason = 'expired_or_canceled_card';
      // The amount of a failed refund returns to the balance: docs.stripe.com/refunds#failed-refunds
      this.#book('refund_failure', 'refund_failure', refund);
      this.#tell('refund.failed', this.#showRefund(refund));
    }
    this.#tell('refund.updated', this.#showRefund(refund));
  }

  /** The customer disputes a payment, and its amount leaves the balance: docs.stripe.com/disputes/how-disputes-work */
  dispute(payment: FakePayment): void {
    this.disputed.add(payment);
    const id = this.#id('dp');
    const dispute = {
      id,
      object: 'dispute',
      charge: payment.charge?.id,
      payment_intent: payment.id,
      metadata: {},
    } as const;
    this.#book('adjustment', 'dispute', dispute);
    for (const type of ['charge.dispute.created', 'charge.dispute.funds_withdrawn']) {
      this.#tell(type, { ...dispute, amount: payment.amount, reason: 'fraudulent', status: 'needs_response' });
    }
  }

  /** Changes the behaviour of later debits on the agreement. */
  turn(agreement: string, card: TestCard): void {
    const known = this.#methods.get(agreement.split('/')[1] ?? '');
    if (known !== undefined) known.card = card;
  }

  /** Books other business of the account: bookings without the bridge's metadata. */
  bookElsewhere(count: number): void {
    for (let i = 0; i < count; i += 1) this.#book('payout', 'payout', undefined);
  }

  detach(agreement: string): void {
    const [customer = '', method = ''] = agreement.split('/');
    const known = this.#methods.get(method);
    if (known === undefined) return;
    known.customer = null;
    this.#tell('payment_method.detached', this.#showMethod(method, known), { customer });
  }

  /** docs.stripe.com/webhooks/signature */
  sign(body: string, at = this.#now(), secret = this.webhookSecret): Record<string, string> {
    const timestamp = Math.floor(at / 1000);
    const v1 = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
    return { 'content-type': 'application/json; charset=utf-8', 'stripe-signature': `t=${timestamp},v1=${v1}` };
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://stripe');
    const params = new URLSearchParams(request.method === 'POST' ? await text(request) : url.search);
    const asked = `${request.method} ${url.pathname}`;
    this.requests.push(asked);
    const fault = this.#takeFault(asked);
    if (fault === 'lost-request') return void response.destroy();
    const answer = faultyAnswer(fault) ?? (await this.#answer(request, url.pathname, params));
    if (fault === 'lost-answer') return void response.destroy();
    const shown = fault === 'error-after' ? error(500, { type: 'api_error', message: 'something went wrong' }) : answer;
    const headers = { 'content-type': 'application/json', 'request-id': this.#id('req') };
    response.writeHead(shown.status, { ...headers, ...(fault === 'led-away' && { location: request.url }) });
    response.end(JSON.stringify(shown.body));
  }

  async #answer(request: IncomingMessage, path: string, params: URLSearchParams): Promise<Answer> {
    if (request.headers.authorization !== `Bearer ${this.secretKey}`) return badKey();
    const key = request.headers['idempotency-key'];
    if (request.method !== 'POST' || typeof key !== 'string') return this.#run(request.method ?? '', path, params);
    return this.#once(key, path, params);
  }

  /**
   * Executes a request once per idempotency key (docs.stripe.com/api/idempotent_requests). The first answer is stored
   * for the key, even if it is an error. Only a validation error is not stored, because the request was not executed. A
   * key must not be used with different parameters, nor while its request is in flight.
   */
  async #once(key: string, path: string, params: URLSearchParams): Promise<Answer> {
    const same = `${path}?${params}`;
    const known = this.#keys.get(key);
    if (known !== undefined && known.params !== same) {
      return error(400, {
        type: 'idempotency_error',
        message: 'Keys for idempotent requests can only be used with the same parameters',
      });
    }
    if (known !== undefined && known.answer === undefined) {
      return error(409, {
        type: 'idempotency_error',
        code: 'idempotency_key_in_use',
        message: 'another request with this key is in progress',
      });
    }
    if (known?.answer !== undefined) return known.answer;
    const entry: { params: string; answer: Answer | undefined } = { params: same, answer: undefined };
    this.#keys.set(key, entry);
    const held = this.#held?.path === path ? this.#held : undefined;
    if (held !== undefined) {
      this.#held = undefined;
      held.arrived();
      await held.until;
    }
    entry.answer = this.#run('POST', path, params);
    if (entry.answer.status === 400) this.#keys.delete(key);
    return entry.answer;
  }

  #run(method: string, path: string, params: URLSearchParams): Answer {
    const [, , kind = '', id, verb] = path.split('/');
    const route = `${method} ${kind}${id === undefined ? '' : id === 'search' ? '/search' : '/:id'}${verb ? `/${verb}` : ''}`;
    switch (route) {
      case 'POST payment_intents':
        return this.#createPayment(params);
      case 'GET payment_intents':
        return this.#list(this.#listedPayments(params), params, (one) => this.#showPayment(one, params));
      case 'GET payment_intents/search':
        return this.#search(params);
      case 'GET payment_intents/:id':
        return this.#found(this.payments, id, (one) => this.#showPayment(one, params));
      case 'POST payment_intents/:id/cancel':
        return this.#found(this.payments, id, (one) => this.#cancel(one, params));
      case 'POST refunds':
        return this.#createRefund(params);
      case 'GET refunds':
        return this.#list(this.#listedRefunds(params), params, (one) => this.#showRefund(one, params));
      case 'GET refunds/:id':
        return this.#found(this.refunds, id, (one) => this.#showRefund(one, params));
      case 'GET payment_methods/:id':
      case 'POST payment_methods/:id/detach':
        return this.#method(id ?? '', verb === 'detach');
      case 'GET balance_transactions':
        return this.#list(inTime(this.#bookings, params), params, (one) => this.#showBooking(one));
      default:
        return error(404, { type: 'invalid_request_error', message: `Unrecognized request URL (${method}: ${path})` });
    }
  }

  /** Creates a payment with confirm and off_session: docs.stripe.com/api/payment_intents/create */
  #createPayment(params: URLSearchParams): Answer {
    const amount = Number(params.get('amount'));
    const customer = params.get('customer') ?? '';
    const method = params.get('payment_method') ?? '';
    const known = this.#methods.get(method);
    if (params.get('confirm') !== 'true' || params.get('off_session') !== 'true')
      return invalid('parameter_missing', 'confirm');
    // docs.stripe.com/error-codes#amount-too-small
    if (amount < 1) return invalid('amount_too_small', 'amount');
    // docs.stripe.com/error-codes#resource-missing
    if (!this.#customers.has(customer)) return invalid('resource_missing', 'customer');
    if (known === undefined) return invalid('resource_missing', 'payment_method');
    // Stripe's real answer for a detached payment method has no code either.
    if (known.customer === null)
      return invalid(
        undefined,
        undefined,
        'The provided PaymentMethod was detached from a Customer. It may not be used again.',
      );
    if (known.customer !== customer)
      return invalid(undefined, 'payment_method', 'The customer does not have a payment method with this ID.');
    const behaviour: Behaviour = TEST_CARDS[known.card];
    const mayLeave = params.get('automatic_payment_methods[allow_redirects]') !== 'never';
    // docs.stripe.com/api/payment_intents/create, return_url
    if (mayLeave !== params.has('return_url')) return invalid('parameter_missing', 'return_url');
    if (behaviour.redirects && !mayLeave) return invalid(undefined, 'payment_method', 'It may lead elsewhere.');
    const payment: FakePayment = {
      id: this.#id('pi'),
      amount,
      currency: params.get('currency') ?? '',
      created: this.#seconds(),
      customer,
      payment_method: method,
      metadata: metadataOf(params),
      status: 'requires_confirmation',
      last_payment_error: null,
      cancellation_reason: null,
      charge: undefined,
    };
    this.payments.push(payment);
    if (behaviour.processing) this.#process(payment);
    else if (behaviour.waits) payment.status = 'requires_action';
    else if (behaviour.code !== undefined) return this.#decline(payment, behaviour);
    else this.#succeed(payment);
    return { status: 200, body: this.#showPayment(payment, params) };
  }

  #process(payment: FakePayment): void {
    payment.status = 'processing';
    payment.charge = this.#newCharge('py', payment, 'pending');
    this.#tell('payment_intent.processing', this.#showPayment(payment));
  }

  #newCharge(kind: string, payment: FakePayment, status: FakeCharge['status']): FakeCharge {
    return { id: this.#id(kind), payment, created: this.#seconds(), status, balance_transaction: null };
  }

  #succeed(payment: FakePayment): void {
    payment.status = 'succeeded';
    payment.charge ??= this.#newCharge('ch', payment, 'succeeded');
    payment.charge.status = 'succeeded';
    payment.charge.balance_transaction = this.#book('charge', 'charge', payment.charge);
    this.#tell('charge.succeeded', this.#showCharge(payment.charge));
    this.#tell('payment_intent.succeeded', this.#showPayment(payment));
  }

  /** Declines a payment, which returns to requires_payment_method: docs.stripe.com/payments/paymentintents/lifecycle */
  #decline(payment: FakePayment, { code, decline_code, advice_code }: Behaviour): Answer {
    const failure = { type: 'card_error', code, decline_code, advice_code, message: 'Your card was declined.' };
    payment.status = 'requires_payment_method';
    payment.last_payment_error = failure;
    if (payment.charge !== undefined) payment.charge.status = 'failed';
    this.#tell('payment_intent.payment_failed', this.#showPayment(payment));
    return error(402, { ...failure, payment_intent: this.#showPayment(payment) });
  }

  /** docs.stripe.com/api/payment_intents/cancel */
  #cancel(payment: FakePayment, params: URLSearchParams): Json {
    if (['succeeded', 'canceled', 'processing'].includes(payment.status)) {
      throw new Refused(invalid('payment_intent_unexpected_state'));
    }
    payment.status = 'canceled';
    payment.cancellation_reason = params.get('cancellation_reason');
    this.#tell('payment_intent.canceled', this.#showPayment(payment));
    return this.#showPayment(payment, params);
  }

  /** docs.stripe.com/api/refunds/create */
  #createRefund(params: URLSearchParams): Answer {
    const payment = this.payments.find(({ id }) => id === params.get('payment_intent'));
    if (payment?.charge === undefined) return invalid('resource_missing', 'payment_intent');
    if (payment.status !== 'succeeded') return invalid('payment_intent_unexpected_state');
    // docs.stripe.com/error-codes#charge-disputed
    if (this.disputed.has(payment)) return invalid('charge_disputed');
    const amount = Number(params.get('amount'));
    const left = payment.amount - this.#refundedOf(payment);
    if (left === 0) return invalid('charge_already_refunded');
    if (amount > left) return invalid(undefined, 'amount', 'Refund amount is greater than unrefunded amount on charge');
    const card = this.#methods.get(payment.payment_method)?.card;
    const behaviour: Behaviour = card === undefined ? {} : TEST_CARDS[card];
    const refund: FakeRefund = {
      id: this.#id('re'),
      amount,
      created: this.#seconds(),
      payment,
      metadata: metadataOf(params),
      status: behaviour.refund === 'pending' ? 'pending' : 'succeeded',
      balance_transaction: null,
    };
    this.refunds.push(refund);
    refund.balance_transaction = this.#book('refund', 'refund', refund);
    this.#tell('refund.created', this.#showRefund(refund));
    this.#tell('charge.refunded', this.#showCharge(payment.charge));
    return { status: 200, body: this.#showRefund(refund, params) };
  }

  #refundedOf(payment: FakePayment): number {
    const counted = this.refunds.filter(
      (one) => one.payment === payment && !['failed', 'canceled'].includes(one.status),
    );
    return counted.reduce((sum, { amount }) => sum + amount, 0);
  }

  /** docs.stripe.com/api/payment_methods/detach */
  #method(id: string, isDetach: boolean): Answer {
    const known = this.#methods.get(id);
    if (known === undefined) return missing('payment_method', id);
    if (isDetach && known.customer === null) {
      return invalid(
        undefined,
        undefined,
        'The payment method you provided is not attached to a customer so detachment is impossible.',
      );
    }
    if (isDetach) this.detach(`${known.customer}/${id}`);
    return { status: 200, body: this.#showMethod(id, known) };
  }

  /** docs.stripe.com/search */
  #search(params: URLSearchParams): Answer {
    const [, key = '', value = ''] = /^metadata\['([^']+)'\]:'([^']*)'$/.exec(params.get('query') ?? '') ?? [];
    if (key === '') return invalid('parameter_invalid_string', 'query');
    const searchable = this.#now() - this.searchLagMs;
    const hits = this.payments.filter(
      ({ metadata, created }) => metadata[key] === value && created * 1000 <= searchable,
    );
    const data = hits.map((one) => this.#showPayment(one));
    return {
      status: 200,
      body: { object: 'search_result', url: '/v1/payment_intents/search', has_more: false, next_page: null, data },
    };
  }

  #listedPayments(params: URLSearchParams): readonly FakePayment[] {
    const customer = params.get('customer');
    return inTime(this.payments, params).filter((one) => customer === null || one.customer === customer);
  }

  #listedRefunds(params: URLSearchParams): readonly FakeRefund[] {
    const [payment, charge] = [params.get('payment_intent'), params.get('charge')];
    return this.refunds.filter(
      (one) =>
        (payment === null || one.payment.id === payment) && (charge === null || one.payment.charge?.id === charge),
    );
  }

  /**
   * Returns one page of a list: latest first, up to 100 items, after the item with the given id:
   * docs.stripe.com/api/pagination
   */
  #list<Item extends { readonly id: string }>(
    items: readonly Item[],
    params: URLSearchParams,
    show: (item: Item) => Json,
  ): Answer {
    const limit = Number(params.get('limit') ?? 10);
    if (!(limit >= 1 && limit <= 100)) return invalid('parameter_invalid_integer', 'limit');
    const latestFirst = items.toReversed();
    const after = params.get('starting_after');
    const from = after === null ? 0 : latestFirst.findIndex(({ id }) => id === after) + 1;
    if (after !== null && from === 0) return invalid('resource_missing', 'starting_after');
    const data = latestFirst.slice(from, from + limit).map(show);
    return { status: 200, body: { object: 'list', url: '', has_more: latestFirst.length > from + limit, data } };
  }

  #found<Item extends { readonly id: string }>(
    items: readonly Item[],
    id: string | undefined,
    show: (item: Item) => Json,
  ): Answer {
    const item = items.find((one) => one.id === id);
    if (item === undefined) return missing('id', id);
    try {
      return { status: 200, body: show(item) };
    } catch (refused) {
      if (refused instanceof Refused) return refused.answer;
      throw refused;
    }
  }

  /** docs.stripe.com/api/payment_intents/object; expanded by docs.stripe.com/api/expanding_objects */
  #showPayment({ charge, received, ...payment }: FakePayment, params = new URLSearchParams()): Json {
    const expands = [...params.values()].includes('latest_charge.balance_transaction');
    return {
      object: 'payment_intent',
      ...payment,
      amount_received: payment.status === 'succeeded' ? (received ?? payment.amount) : 0,
      latest_charge: (charge && (expands ? this.#showCharge(charge, true) : charge.id)) || null,
      livemode: false,
    };
  }

  /** Returns a charge (docs.stripe.com/api/charges/object). Its metadata is the payment's: docs.stripe.com/metadata */
  #showCharge({ payment, ...charge }: FakeCharge, expands = false): Json {
    const booking = this.#bookings.find(({ id }) => id === charge.balance_transaction);
    return {
      object: 'charge',
      ...charge,
      amount: payment.amount,
      amount_captured: charge.status === 'succeeded' ? payment.amount : 0,
      currency: payment.currency,
      payment_intent: payment.id,
      metadata: payment.metadata,
      balance_transaction: expands && booking ? this.#showBooking(booking, false) : charge.balance_transaction,
    };
  }

  /** docs.stripe.com/api/refunds/object */
  #showRefund({ payment, ...refund }: FakeRefund, params = new URLSearchParams()): Json {
    const booking = this.#bookings.find(({ id }) => id === refund.balance_transaction);
    const expands = [...params.values()].includes('balance_transaction');
    return {
      object: 'refund',
      ...refund,
      currency: payment.currency,
      charge: payment.charge?.id ?? null,
      payment_intent: payment.id,
      balance_transaction: expands && booking ? this.#showBooking(booking, false) : refund.balance_transaction,
    };
  }

  #showMethod(id: string, { customer }: { readonly customer: string | null }): Json {
    return { id, object: 'payment_method', type: 'card', customer };
  }

  /**
   * Returns a booking. At Stripe its amount is in the account's currency, before the fee is deducted. Here its amount
   * is always 1, because the bridge must not use it: docs.stripe.com/api/balance_transactions/object
   */
  #showBooking({ source, ...booking }: Booking, withSource = true): Json {
    const shown = source && this.#showSource(source);
    return {
      object: 'balance_transaction',
      ...booking,
      amount: 1,
      currency: 'usd',
      source: (withSource ? shown : source?.id) ?? null,
    };
  }

  #showSource(source: FakeCharge | FakeRefund | FakeDispute): Json {
    if ('object' in source) return { ...source };
    return 'amount' in source ? this.#showRefund(source) : this.#showCharge(source);
  }

  #book(type: string, category: string, source: Booking['source']): string {
    const id = this.#id('txn');
    this.#bookings.push({ id, created: this.#seconds(), type, reporting_category: category, source });
    return id;
  }

  /** docs.stripe.com/api/events/object */
  #tell(type: string, object: Json, previous?: Json): void {
    const id = this.#id('evt');
    const data = { object, ...(previous && { previous_attributes: previous }) };
    const body = JSON.stringify(
      { id, object: 'event', type, created: this.#seconds(), data, livemode: false },
      null,
      2,
    );
    const event = { id, type, body };
    this.events.push(event);
    this.listener(event);
  }

  #takeFault(asked: string): Fault | undefined {
    const at = this.#faults.findIndex((one) => asked.includes(one.asked));
    return at === -1 ? undefined : this.#faults.splice(at, 1)[0]?.fault;
  }

  #seconds(): number {
    return Math.floor(this.#now() / 1000);
  }

  #id(kind: string): string {
    this.#count += 1;
    return `${kind}_${String(this.#count).padStart(8, '0')}`;
  }
}

class Refused extends Error {
  constructor(readonly answer: Answer) {
    super('refused');
  }
}

function faultyAnswer(fault: Fault | undefined): Answer | undefined {
  switch (fault) {
    case 'rate-limit':
    case 'busy': {
      const code = fault === 'busy' ? 'lock_timeout' : 'rate_limit';
      return error(429, { type: 'invalid_request_error', code, message: 'Not right now.' });
    }
    case 'bad-key':
      return badKey();
    case 'led-away':
      return { status: 307, body: {} };
    case 'misses-something':
      return invalid('resource_missing', 'payment_method_configuration');
    default:
      return undefined;
  }
}

const error = (status: number, body: Json): Answer => ({ status, body: { error: body } });

const badKey = () => error(401, { type: 'invalid_request_error', message: 'Invalid API Key provided: sk_test_****' });

const invalid = (code?: string, param?: string, message = `${code}: ${param}`) =>
  error(400, { type: 'invalid_request_error', ...(code && { code }), ...(param && { param }), message });

const missing = (param: string, id: string | undefined) =>
  error(404, {
    type: 'invalid_request_error',
    code: 'resource_missing',
    param,
    message: `No such object: '${id}'`,
  });

function metadataOf(params: URLSearchParams): Metadata {
  const pairs = [...params].map(([name, value]) => [/^metadata\[(.+)\]$/.exec(name)?.[1], value] as const);
  return Object.fromEntries(pairs.filter(([name]) => name !== undefined));
}

function inTime<Item extends { readonly created: number }>(
  items: readonly Item[],
  params: URLSearchParams,
): readonly Item[] {
  const [gte, lt] = [
    Number(params.get('created[gte]') ?? 0),
    Number(params.get('created[lt]') ?? Number.MAX_SAFE_INTEGER),
  ];
  return items.filter(({ created }) => created >= gte && created < lt);
}
