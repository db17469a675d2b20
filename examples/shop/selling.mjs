// All the shop's calls to the service. Only the receiving of events is elsewhere (events.mjs). Copy from this file.
import { randomInt, randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { isPerennialError, PerennialConnectionError } from 'perennial-channel';
import { explain } from './words.mjs';

/**
 * Suffixes of order numbers. The sandbox declines the first debit of an order with `_FAIL`. For an order with
 * `_PENDING`, the first debit has no result for 30 s.
 */
const PRETENDED = { declined: '_FAIL', pending: '_PENDING' };

export function createSelling({ client, store }) {
  /** Emits an order's number whenever the order changes. */
  const changes = new EventEmitter().setMaxListeners(0);
  const inFlight = new Set();

  // ---- Products

  let shelf;
  /**
   * Lists the products. While the service is unavailable, returns the last known list, so that users can still order:
   * the shop sends their orders to the service later.
   */
  async function listProducts() {
    try {
      shelf = await gather(client.products.listAll());
    } catch (error) {
      if (!shelf) throw error;
    }
    return shelf;
  }

  async function findProduct(code) {
    return (await listProducts()).find(({ productCode }) => productCode === code);
  }

  /** Returns a payment channel that accepts shared agreements, or undefined. */
  async function findSharingChannel() {
    return (await gather(client.paymentChannels.listAll())).find(({ shareEnabled }) => shareEnabled)?.code;
  }

  // ---- Users

  /**
   * Creates a user with an invented mobile number. Real shops know their users' numbers. A user's number never changes
   * within a channel.
   */
  function makeUser(name) {
    return { id: `shop-${randomUUID()}`, name, mobile: `1${String(randomInt(1e10)).padStart(10, '0')}` };
  }

  // ---- A.1: a card that the user binds

  /**
   * Sends a verification code to the user's bank mobile. `key` comes from the form: a form sent twice is one request.
   */
  async function sendCode(user, { bankCardNo, realName, certificateNo, bankMobile }, key) {
    const { bindOrderNo, smsStatus, failReason } = await client.agreements.bindSms(
      {
        channelUserId: user.id,
        mobile: user.mobile,
        bankCardNo,
        realName,
        certificateNo,
        bankMobile,
        // With bindOrderNo, requests another code for a binding that is still pending.
        ...(user.binding ? { bindOrderNo: user.binding } : {}),
      },
      { idempotencyKey: `${user.id}-${key}` },
    );
    user.binding = bindOrderNo;
    await store.save();
    // The call succeeds even if the code could not be sent. smsStatus says whether it was sent.
    return smsStatus === 'SEND_SUCCESS' ? { isSent: true } : { isSent: false, reason: failReason };
  }

  async function confirmCode(user, smsCode, key) {
    const bindOrderNo = user.binding;
    const { agreementStatus, bankCardTailNo, failReason, codeRetryable } = await client.agreements.bindConfirm(
      { bindOrderNo, smsCode },
      { idempotencyKey: `${user.id}-${key}` },
    );
    if (agreementStatus !== 'BIND_SUCCESS') return { isBound: false, reason: failReason, codeRetryable };
    user.card = { bindOrderNo, tail: bankCardTailNo };
    user.binding = undefined;
    await store.save();
    return { isBound: true };
  }

  // ---- Orders

  /**
   * Stores the order in the shop, then creates it at the service. `attempt` comes from the form, so a form that is
   * submitted twice creates one order.
   */
  async function placeOrder(user, { attempt, product, way, pretended }) {
    const externalOrderNo = `shop-${attempt}${PRETENDED[pretended] ?? ''}`;
    const known = store.orders.get(externalOrderNo);
    if (known) return known;
    const order = {
      externalOrderNo,
      userId: user.id,
      way,
      product,
      placedAt: Date.now(),
      /** Idempotency-Keys of unanswered calls. */
      keys: {},
      events: [],
      ...(way === 'A.1' ? { bindOrderNo: user.card?.bindOrderNo } : {}),
      ...(way === 'A.2'
        ? { agreementNo: `agreement-${randomUUID()}`, sharingChannel: await findSharingChannel() }
        : {}),
    };
    store.orders.set(externalOrderNo, order);
    await create(order);
    return order;
  }

  /**
   * Creates the order at the service, or finds out whether an earlier attempt created it: the idempotency key was
   * stored before the first attempt, so the service creates the order once and repeats its answer. Stores the result in
   * the order.
   */
  async function create(order) {
    const user = store.users.get(order.userId);
    inFlight.add(order.externalOrderNo);
    try {
      const answer = await write(order, 'create', (options) => client.orders.create(createBody(order, user), options));
      // If an event arrived before this answer, the order was already queried and its state is newer.
      if (!order.service) noteOrder(order, answer);
    } catch (error) {
      order.failure = explain(error);
      // The service already has the order, but its idempotency key has expired.
      if (isPerennialError(error, 'SUBSCRIPTION_ALREADY_EXISTS')) await refresh(order);
      // The agreement of the user's card has ended, perhaps together with its last order: the user must bind the card
      // again.
      if (isPerennialError(error, 'AGREEMENT_NOT_BOUND')) user.card = undefined;
    } finally {
      inFlight.delete(order.externalOrderNo);
      await noteChange(order);
    }
  }

  /** Continues an order whose answer was lost. A repeated answer may be old, so the order is queried too. */
  async function resume(order) {
    if (isUnanswered(order)) await create(order);
    if (order.service) await refresh(order);
  }

  async function resumeAll() {
    for (const order of store.orders.values()) {
      // Ignores the error here: it is stored in the order, whose page lets the user retry.
      if (isUnanswered(order)) await resume(order).catch(() => {});
    }
  }

  const isUnanswered = (order) => order.keys.create !== undefined;
  const isInFlight = (order) => inFlight.has(order.externalOrderNo);

  /** Queries the order's current state. */
  async function refresh(order) {
    const { externalOrderNo } = order;
    noteOrder(order, await client.orders.query({ externalOrderNo }));
    await noteChange(order);
  }

  /** Fetches the link on demand and never stores it: it is valid for seven days for anyone who has it. */
  async function findRedeemUrl({ externalOrderNo }) {
    return (await client.orders.query({ externalOrderNo })).redeemUrl;
  }

  async function unsubscribe(order) {
    const { externalOrderNo } = order;
    const body = { externalOrderNo, reason: 'ended in the shop' };
    noteOrder(order, await write(order, 'unsubscribe', (options) => client.orders.unsubscribe(body, options)));
    await noteChange(order);
  }

  /** A.2: replaces the user's agreement. The service retries a failed period at once on the new agreement. */
  async function replaceAgreement(order) {
    const { externalOrderNo } = order;
    order.nextAgreementNo ??= `agreement-${randomUUID()}`;
    const newSharedAgreement = sharedAgreement(order, order.nextAgreementNo);
    await write(order, 'replace', (options) =>
      client.agreements.replace({ externalOrderNo, newSharedAgreement }, options),
    );
    order.agreementNo = order.nextAgreementNo;
    order.nextAgreementNo = undefined;
    await refresh(order);
  }

  /** Sandbox only: runs the next period now, with the given outcome. */
  async function advance(order, outcome) {
    const { externalOrderNo } = order;
    noteOrder(order, await client.sandbox.orders.advance({ externalOrderNo, cycles: 1, outcomes: [outcome] }));
    await noteChange(order);
  }

  // ---- Writing

  /**
   * Sends a write with an idempotency key. Stores the key before sending, so that a shop that crashes retries with the
   * same key. Any answer except a temporary refusal completes the write.
   */
  async function write(order, name, send) {
    order.keys[name] ??= randomUUID();
    await store.save();
    try {
      const answer = await send({ idempotencyKey: order.keys[name] });
      order.keys[name] = undefined;
      return answer;
    } catch (error) {
      if (!isUnsure(error)) order.keys[name] = undefined;
      throw error;
    } finally {
      await store.save();
    }
  }

  function noteOrder(order, { redeemUrl, ...service }) {
    order.service = service;
    order.hasBenefits = redeemUrl !== null;
    order.failure = undefined;
    order.keys.create = undefined;
  }

  async function noteChange(order) {
    await store.save();
    changes.emit(order.externalOrderNo);
  }

  return {
    changes,
    listProducts,
    findProduct,
    makeUser,
    sendCode,
    confirmCode,
    placeOrder,
    resume,
    resumeAll,
    isUnanswered,
    isInFlight,
    refresh,
    findRedeemUrl,
    unsubscribe,
    replaceAgreement,
    advance,
    noteChange,
  };
}

/** Returns true if the call may have been executed in spite of the error, or may succeed later. */
const isUnsure = (error) => error instanceof PerennialConnectionError || (isPerennialError(error) && error.retryable);

/** Creates the body from stored data only, so that a retry has the same body. */
function createBody(order, user) {
  const { externalOrderNo, way } = order;
  const common = { externalOrderNo, productCode: order.product.productCode };
  if (way === 'A.1') return { ...common, settlementMode: 'SVC_DEDUCT', bindOrderNo: order.bindOrderNo };
  const ofUser = { channelUserId: user.id, mobile: user.mobile };
  if (way === 'B') return { ...common, ...ofUser, settlementMode: 'CHANNEL_COLLECT' };
  const agreement = sharedAgreement(order, order.agreementNo);
  return { ...common, ...ofUser, settlementMode: 'SVC_DEDUCT', sharedAgreement: agreement };
}

/** Returns an agreement between the shop and its user. In the sandbox all its fields can be made up. */
const sharedAgreement = (order, sharedAgreementNo) => ({
  paymentChannelCode: order.sharingChannel,
  sharedAgreementNo,
  channelUserId: order.userId,
  bankCardNo: '6222020000001234567',
  certificateNo: '110101199001011234',
  realName: 'Ann Example',
  bankMobile: '13800000001',
});

async function gather(items) {
  const all = [];
  for await (const item of items) all.push(item);
  return all;
}
