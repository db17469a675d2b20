// What the shop asks of the service: every call of the SDK but the receiving of events. The file to copy from.
import { randomInt, randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { isPerennialError, PerennialConnectionError } from 'perennial-channel';
import { explain } from './words.mjs';

/** How the sandbox is told what to pretend: by the end of the order's number. */
const PRETENDED = { declined: '_FAIL', pending: '_PENDING' };

export function createSelling({ client, store }) {
  /** Says the number of an order whenever something about it has changed. */
  const changes = new EventEmitter().setMaxListeners(0);
  const underWay = new Set();

  // ---- What is sold

  let shelf;
  /** While the service cannot be reached, what was sold before: an order that cannot be placed then is placed later. */
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

  /** The institution where the shop's own agreements may be shared. */
  async function findSharingChannel() {
    return (await gather(client.paymentChannels.listAll())).find(({ shareEnabled }) => shareEnabled)?.code;
  }

  // ---- Users

  /** Within a channel, one user has one mobile for good. A shop knows its users' mobiles; this one makes them up. */
  function makeUser(name) {
    return { id: `shop-${randomUUID()}`, name, mobile: `1${String(randomInt(1e10)).padStart(10, '0')}` };
  }

  // ---- A.1: a card that the user binds

  /** Has a code sent to the mobile that the bank knows. `key` came with the form: a form that is sent twice is one request. */
  async function sendCode(user, { bankCardNo, realName, certificateNo, bankMobile }, key) {
    const { bindOrderNo, smsStatus, failReason } = await client.agreements.bindSms(
      {
        channelUserId: user.id,
        mobile: user.mobile,
        bankCardNo,
        realName,
        certificateNo,
        bankMobile,
        // Another code on a binding that was begun.
        ...(user.binding ? { bindOrderNo: user.binding } : {}),
      },
      { idempotencyKey: `${user.id}-${key}` },
    );
    user.binding = bindOrderNo;
    await store.save();
    // A code that could not be sent is no error of the call.
    return smsStatus === 'SEND_SUCCESS' ? { isSent: true } : { isSent: false, reason: failReason };
  }

  async function confirmCode(user, smsCode, key) {
    const bindOrderNo = user.binding;
    const { agreementStatus, bankCardTailNo, failReason } = await client.agreements.bindConfirm(
      { bindOrderNo, smsCode },
      { idempotencyKey: `${user.id}-${key}` },
    );
    if (agreementStatus !== 'BIND_SUCCESS') return { isBound: false, reason: failReason };
    user.card = { bindOrderNo, tail: bankCardTailNo };
    user.binding = undefined;
    await store.save();
    return { isBound: true };
  }

  // ---- Orders

  /** Notes the order down and then creates it. `attempt` came with the form: a form that is sent twice is one order. */
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
      /** Idempotency-Keys of calls that have no answer yet. */
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
   * Creates the order at the service, or finds out what has become of it: under the key that was stored before the first try the
   * service does nothing twice, and answers what it answered then. What comes of it stands in the order.
   */
  async function create(order) {
    const user = store.users.get(order.userId);
    underWay.add(order.externalOrderNo);
    try {
      const answer = await write(order, 'create', (options) => client.orders.create(createBody(order, user), options));
      // An event may have come before the answer, and then the order has been asked for already.
      if (!order.service) noteOrder(order, answer);
    } catch (error) {
      order.failure = explain(error);
      // It came about long ago, when the key was not yet forgotten.
      if (isPerennialError(error, 'SUBSCRIPTION_ALREADY_EXISTS')) await refresh(order);
      // The card's agreement has ended, with the last order on it perhaps: it has to be bound anew.
      if (isPerennialError(error, 'AGREEMENT_NOT_BOUND')) user.card = undefined;
    } finally {
      underWay.delete(order.externalOrderNo);
      await noteChange(order);
    }
  }

  /** After a lost answer. The first answer comes again, which may be old by now: so the order is asked for too. */
  async function resume(order) {
    if (isUnanswered(order)) await create(order);
    if (order.service) await refresh(order);
  }

  async function resumeAll() {
    for (const order of store.orders.values()) {
      // Whatever is wrong stands in the order, where the user is told to ask again.
      if (isUnanswered(order)) await resume(order).catch(() => {});
    }
  }

  const isUnanswered = (order) => order.keys.create !== undefined;
  const isUnderWay = (order) => underWay.has(order.externalOrderNo);

  /** The order as it is now. */
  async function refresh(order) {
    const { externalOrderNo } = order;
    noteOrder(order, await client.orders.query({ externalOrderNo }));
    await noteChange(order);
  }

  /** Fetched when it is wanted: a link is good for seven days, and whoever has it can open it. So it is stored nowhere. */
  async function findRedeemUrl({ externalOrderNo }) {
    return (await client.orders.query({ externalOrderNo })).redeemUrl;
  }

  async function unsubscribe(order) {
    const { externalOrderNo } = order;
    const body = { externalOrderNo, reason: 'ended in the shop' };
    noteOrder(order, await write(order, 'unsubscribe', (options) => client.orders.unsubscribe(body, options)));
    await noteChange(order);
  }

  /** A.2: the user's agreement with the shop has changed. A period that failed on the old one is tried at once on the new one. */
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

  /** Only in the sandbox: the next period now, and what is to become of it. */
  async function advance(order, outcome) {
    const { externalOrderNo } = order;
    noteOrder(order, await client.sandbox.orders.advance({ externalOrderNo, cycles: 1, outcomes: [outcome] }));
    await noteChange(order);
  }

  // ---- Writing

  /**
   * A write whose key is stored before it is sent, so that also a shop that has crashed meanwhile sends it again under the same
   * key. Once there is an answer, yes or no, the key has done its work.
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
    isUnderWay,
    refresh,
    findRedeemUrl,
    unsubscribe,
    replaceAgreement,
    advance,
    noteChange,
  };
}

/** Whether the call may have been carried out all the same. */
const isUnsure = (error) => error instanceof PerennialConnectionError || (isPerennialError(error) && error.retryable);

/** Made of what is stored, so that it is the same when it is sent again. */
function createBody(order, user) {
  const { externalOrderNo, way } = order;
  const common = { externalOrderNo, productCode: order.product.productCode };
  if (way === 'A.1') return { ...common, settlementMode: 'SVC_DEDUCT', bindOrderNo: order.bindOrderNo };
  const ofUser = { channelUserId: user.id, mobile: user.mobile };
  if (way === 'B') return { ...common, ...ofUser, settlementMode: 'CHANNEL_COLLECT' };
  const agreement = sharedAgreement(order, order.agreementNo);
  return { ...common, ...ofUser, settlementMode: 'SVC_DEDUCT', sharedAgreement: agreement };
}

/** An agreement that the shop has made with its user at the institution. In the sandbox all of it may be made up. */
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
