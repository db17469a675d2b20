import { maskCardNumbers, type Static } from '@perennial/wire';
import { openChannelKeys } from '../../catalog/channels/channel-keys.js';
import { createSealing, type Sealing } from '../../catalog/channels/sealing.js';
import { parseEventId } from '../../delivery/event-id.js';
import type { Queryable } from '../../platform/db/database.js';
import { createKeyedHasher, type KeyedHasher } from '../../platform/secrets/keyed-hasher.js';
import type { Vault } from '../../platform/secrets/vault.js';
import { hashClaimCode } from '../../subscriptions/domain/benefits/claim-code.js';
import { parseClaimNo } from '../../subscriptions/domain/benefits/claim-numbers.js';
import {
  formatPaymentOrderNo,
  type PaymentReference,
  parseAttemptNo,
  parseOrderNo,
  parsePaymentOrderNo,
} from '../../subscriptions/domain/orders/order-numbers.js';
import {
  formatRefundNo,
  parseRefundNo,
  type RefundReference,
} from '../../subscriptions/domain/orders/refund-numbers.js';
import { findRefund } from '../../subscriptions/store/payments/refunds-sql.js';
import { TooManyReads, traceRead } from '../audit/trace-read.js';
import { maskUserId } from '../masking.js';
import { formatAmount } from '../money.js';
import type { Operator } from '../operator.js';
import { mayDo, ROLES_FOR_USERS, type Role } from '../people/roles.js';
import type { searchResult } from '../schemas/overview.js';
import {
  type FoundAgreement,
  type FoundOrder,
  type FoundPayment,
  type FoundUser,
  findAgreementById,
  findAgreementsByCardTail,
  findAgreementsByInstitutionNo,
  findChannelsByPrefix,
  findDebitsByReference,
  findEventByNumber,
  findLatestOrder,
  findOrderByExternal,
  findOrders,
  findOrdersByCode,
  findOrdersInRanges,
  findPayment,
  findProductsByPrefix,
  findRefundsByReference,
  findUsersById,
  findUsersByMobile,
  hasAttempt,
  hasClaim,
  listLookUpKeys,
} from './search-sql.js';

type SearchResult = Static<typeof searchResult>;

const SHOWN = 20;
/** One result more than is shown, to detect that there are more. */
const MOST = SHOWN + 1;
const MAX_STATEMENT_MS = 3_000;
/** The minimum number of digits to search for orders whose number begins with these digits. */
const MIN_PREFIX = 4;
/** Maximum length of an order number. */
const MAX_DIGITS = 15;

interface Searching {
  readonly db: Queryable;
  readonly text: string;
  /** The text without spaces, for numbers that are written in groups. */
  readonly number: string;
  /**
   * The channels' hashes of the text. Empty if the text is no mobile number, or the role may not search for mobile
   * numbers.
   */
  readonly mobileHashes: Awaited<ReturnType<typeof hashMobile>>;
  /** The hashes of the text as a code. Empty if the text is too short, or the role may not see codes. */
  readonly codeHashes: readonly Buffer[];
  /** The hash of the text as an institution's number of an agreement. Unset for the same reasons. */
  readonly institutionHash: Buffer | undefined;
  readonly role: Role;
  readonly currency: string | undefined;
}

type LookUp = (searching: Searching) => Promise<readonly SearchResult[]>;

/** Finds records by any number that a channel or user may quote. Lookups in large tables use an index. */
export async function search(operator: Operator, input: { readonly q: string }, role: Role) {
  const text = input.q.trim();
  if (text === '') return { results: [], hasMore: false, isMobileLeftOut: false };
  const number = text.replaceAll(/\s/g, '');
  const mobile = parseMobile(text);
  const mayFindMobiles = mayDo(role, ROLE_FOR_MOBILES);
  if (mobile !== undefined && mayFindMobiles) await traceRead(operator, 'search.mobile', 'mobile', mobile);
  const mobileHashes = mobile !== undefined && mayFindMobiles ? await hashMobile(operator, mobile) : [];
  const maySeeSealed = text.length >= MIN_SEALED && mayDo(role, ROLE_FOR_SEALED);
  const hashes = {
    mobileHashes,
    codeHashes: maySeeSealed ? await hashCode(operator, text) : [],
    institutionHash: maySeeSealed ? await hasherOf(operator).hash(text) : undefined,
  };
  const results = await operator.database.transaction(
    async (db) => {
      const found: SearchResult[] = [];
      for (const lookUp of LOOK_UPS)
        found.push(...(await lookUp({ db, text, number, role, currency: operator.currency, ...hashes })));
      return found;
    },
    { readOnly: true, statementMs: MAX_STATEMENT_MS },
  );
  if (results.some(({ matched }) => matched === 'card-tail')) await traceRead(operator, 'search.card', 'card', text);
  const isSealed = ({ matched }: SearchResult) => SEALED_MATCHES.has(matched);
  const shown =
    !results.some(isSealed) || (await mayConfirmCode(operator, text))
      ? results
      : results.filter((one) => !isSealed(one));
  const once = [
    ...new Map(shown.toReversed().map((one) => [`${one.kind} ${one.id} ${one.appId}`, one])).values(),
  ].toReversed();
  return {
    results: once.slice(0, SHOWN),
    hasMore: once.length > SHOWN,
    isMobileLeftOut: mobile !== undefined && !mayFindMobiles,
  };
}

const byOrderNo: LookUp = async ({ db, number, role }) => {
  const orderNo = parseOrderNo(number);
  if (orderNo === undefined) return [];
  const exact = await findOrders(db, [orderNo]);
  return exact.map((order) => describeOrder(order, 'order-number', role));
};

const byStartOfOrderNo: LookUp = async ({ db, text, role }) => {
  const digits = parseOrderNo(text);
  if (digits === undefined || text.length < MIN_PREFIX) return [];
  const factors = Array.from({ length: MAX_DIGITS - text.length }, (_, place) => 10 ** (place + 1));
  const from = factors.map((factor) => digits * factor);
  const to = factors.map((factor) => (digits + 1) * factor);
  const found = await findOrdersInRanges(db, from, to, MOST);
  return found.map((order) => describeOrder(order, 'order-number-prefix', role));
};

const byExternalNo: LookUp = async ({ db, text, role }) => {
  const external = await findOrderByExternal(db, text);
  const found = external ? await findOrders(db, [external.orderNo]) : [];
  return found.map((order) => describeOrder(order, 'external-number', role));
};

const byPaymentNo: LookUp = async (searching) => {
  const reference = parsePaymentOrderNo(searching.number);
  return reference ? describePayment(searching, reference, 'payment-number') : [];
};

const byAttemptNo: LookUp = async (searching) => {
  const reference = parseAttemptNo(searching.number);
  if (!reference || !(await hasAttempt(searching.db, reference.orderNo, reference.cycleNo, reference.tryNo))) return [];
  return describePayment(searching, reference, 'attempt-number');
};

/** A reference is unique at its institution, but two institutions may use the same one. */
const byInstitutionReference: LookUp = async (searching) => {
  const found: SearchResult[] = [];
  for (const debit of await findDebitsByReference(searching.db, searching.text, MOST))
    found.push(...(await describePayment(searching, debit, 'institution-reference')));
  for (const refund of await findRefundsByReference(searching.db, searching.text, MOST))
    found.push(...(await describeRefund(searching, refund, 'institution-reference')));
  return found;
};

async function describePayment(
  { db, currency }: Searching,
  { orderNo, cycleNo }: PaymentReference,
  matched: string,
): Promise<SearchResult[]> {
  const payment = await findPayment(db, orderNo, cycleNo);
  return payment
    ? [{ ...describeMoney(payment, formatPaymentOrderNo(orderNo, cycleNo), currency), kind: 'payment', matched }]
    : [];
}

const byRefundNo: LookUp = async (searching) => {
  const reference = parseRefundNo(searching.number.toUpperCase());
  return reference ? describeRefund(searching, reference, 'refund-number') : [];
};

async function describeRefund(
  { db, currency }: Searching,
  reference: RefundReference,
  matched: string,
): Promise<SearchResult[]> {
  const refund = await findRefund(db, reference);
  return refund ? [{ ...describeMoney(refund, formatRefundNo(refund), currency), kind: 'refund', matched }] : [];
}

/** Describes a payment or a refund as a search result. */
function describeMoney(
  { orderNo, cycleNo, appId, status, amountCent }: FoundPayment,
  id: string,
  currency: string | undefined,
) {
  const subtitle = `${orderNo} · ${cycleNo} · ${formatAmount(amountCent, currency)}`;
  return { ...NOTHING, id, title: id, subtitle, status, appId, orderNo: String(orderNo) };
}

const byAgreementNo: LookUp = async ({ db, number, role }) => {
  const [, id] = /^AG([1-9]\d{0,14})$/i.exec(number) ?? [];
  const agreement = id === undefined ? undefined : await findAgreementById(db, Number(id));
  return agreement ? [await describeAgreement(db, agreement, 'agreement-number', role)] : [];
};

const byInstitutionAgreementNo: LookUp = async ({ db, institutionHash, role }) => {
  const found: SearchResult[] = [];
  for (const agreement of institutionHash ? await findAgreementsByInstitutionNo(db, institutionHash, MOST) : [])
    found.push(await describeAgreement(db, agreement, 'institution-agreement-number', role));
  return found;
};

const byCardTail: LookUp = async ({ db, text, role }) => {
  if (!/^\d{4}$/.test(text)) return [];
  const agreements = await findAgreementsByCardTail(db, text, MOST);
  const found: SearchResult[] = [];
  for (const agreement of agreements) found.push(await describeAgreement(db, agreement, 'card-tail', role));
  return found;
};

const byClaimNo: LookUp = async ({ db, number, role }) => {
  const reference = parseClaimNo(number);
  if (!reference || !(await hasClaim(db, reference.orderNo, reference.cycleNo, reference.position))) return [];
  const found = await findOrders(db, [reference.orderNo]);
  return found.map((order) => describeOrder(order, 'claim-number', role));
};

const byBenefitCode: LookUp = async ({ db, codeHashes, role }) => {
  const claims = codeHashes.length === 0 ? [] : await findOrdersByCode(db, codeHashes, MOST);
  const orders = claims.length === 0 ? [] : await findOrders(db, [...new Set(claims.map(({ orderNo }) => orderNo))]);
  return orders.map((order) => {
    const isReplaced = claims.every(({ orderNo, isReplaced }) => orderNo !== order.orderNo || isReplaced);
    return describeOrder(order, isReplaced ? 'replaced-benefit-code' : 'benefit-code', role);
  });
};

const byEventId: LookUp = async ({ db, text }) => {
  const reference = parseEventId(text);
  const event = reference && (await findEventByNumber(db, reference.eventNo, reference.cycleNo));
  if (!event) return [];
  const { appId, eventType } = event;
  const orderNo = String(event.orderNo);
  const subtitle = `${eventType} · ${orderNo}`;
  return [{ ...NOTHING, kind: 'event', id: text, title: text, subtitle, appId, orderNo, matched: 'event-id' }];
};

const byUserId: LookUp = async ({ db, text, role }) => {
  if (!mayDo(role, ROLES_FOR_USERS)) return [];
  const users = await findUsersById(db, text, MOST);
  // Shows the user id unmasked, because the operator has typed it.
  return users.map((user) => describeUser(user, 'user-id'));
};

/**
 * Only this role and admins may search by mobile number. Other roles could find out masked digits by trying numbers.
 */
const ROLE_FOR_MOBILES: Role = 'support';

const byMobile: LookUp = async ({ db, mobileHashes }) => {
  const channelIds = mobileHashes.map(({ channelId }) => channelId);
  const hashes = mobileHashes.map(({ mobileHash }) => mobileHash);
  const users = hashes.length === 0 ? [] : await findUsersByMobile(db, channelIds, hashes, MOST);
  return users.map((user) => describeUser(user, 'mobile'));
};

/**
 * Mobile numbers begin with 13 to 19. Order numbers begin with 10. So the first eleven digits of an order number are
 * not taken for a mobile number, and the audit log records no search for a mobile number. Phones copy numbers with
 * separators and with marks of the text's direction (Cf).
 */
function parseMobile(text: string): string | undefined {
  const plain = text.normalize('NFKC').replaceAll(/[\s\p{Cf}().-]/gu, '');
  const mobile = plain.replace(/^(\+|00)?86/, '');
  return /^1[3-9]\d{9}$/.test(mobile) ? mobile : undefined;
}

/** Unwrapped keys, by their wrapped form. Cached, because unwrapping a key takes longer than a lookup. */
const openedKeys = new WeakMap<Vault, ReadonlyMap<string, Sealing>>();

/** Hashes the mobile number with the key of each channel. */
async function hashMobile(operator: Operator, mobile: string) {
  const channels = await openLookUpKeys(operator);
  return channels.map(({ channelId, sealing }) => ({ channelId, mobileHash: sealing.hash(mobile, 'mobile') }));
}

/** The role that may reveal codes. A search by a code or by an institution's number of an agreement confirms a guess. */
const ROLE_FOR_SEALED: Role = 'support';
const SEALED_MATCHES: ReadonlySet<string> = new Set([
  'benefit-code',
  'replaced-benefit-code',
  'institution-agreement-number',
]);
/** Shorter texts are not looked up as codes and as numbers of institutions. */
const MIN_SEALED = 6;

/**
 * Hashes the text as a code with the key of each channel, also in upper case without spaces, as the service generates
 * codes.
 */
async function hashCode(operator: Operator, text: string): Promise<Buffer[]> {
  const channels = await openLookUpKeys(operator);
  const spellings = [...new Set([text, text.toUpperCase(), text.toUpperCase().replaceAll(/\s/g, '')])];
  return channels.flatMap(({ sealing }) => spellings.map((spelling) => hashClaimCode(sealing, spelling)));
}

/**
 * Records a search that has found a code or an institution's number. Returns false if the operator has made too many
 * such searches. The search then answers as if it had found nothing, because a refusal would confirm the guess too.
 */
async function mayConfirmCode(operator: Operator, text: string): Promise<boolean> {
  try {
    await traceRead(operator, 'search.code', 'code', text);
    return true;
  } catch (error) {
    if (error instanceof TooManyReads) return false;
    throw error;
  }
}

const hashers = new WeakMap<Vault, KeyedHasher>();

/** Returns the hasher of the institutions' numbers. Cached, because it reads its key once. */
function hasherOf({ database, vault }: Operator): KeyedHasher {
  const hasher = hashers.get(vault) ?? createKeyedHasher(database, vault, 'institution numbers');
  hashers.set(vault, hasher);
  return hasher;
}

async function openLookUpKeys({ database, vault }: Operator) {
  const before = openedKeys.get(vault);
  const channels: { channelId: number; name: string; sealing: Sealing }[] = [];
  for (const row of await listLookUpKeys(database)) {
    const name = row.lookUpKey ?? row.dataKey;
    const open = async () => createSealing(await openChannelKeys(database, vault, { ...row, otherDataKey: null }));
    channels.push({ channelId: row.channelId, name, sealing: before?.get(name) ?? (await open()) });
  }
  openedKeys.set(vault, new Map(channels.map(({ name, sealing }) => [name, sealing])));
  return channels;
}

const byChannel: LookUp = async ({ db, text }) => {
  const found = await findChannelsByPrefix(db, text, MOST);
  return found.map(({ appId: id, name: title, status }) => {
    return { ...NOTHING, kind: 'channel', id, title, subtitle: id, status, appId: id, matched: 'channel' };
  });
};

const byProduct: LookUp = async ({ db, text }) => {
  const found = await findProductsByPrefix(db, text, MOST);
  return found.map(({ productCode: id, productName: title }) => {
    return { ...NOTHING, kind: 'product', id, title, subtitle: id, matched: 'product' };
  });
};

/** Exact matches come first, then matches of a part: the beginning, or a card's last four digits. */
const LOOK_UPS: readonly LookUp[] = [
  byOrderNo,
  byExternalNo,
  byPaymentNo,
  byAttemptNo,
  byRefundNo,
  byInstitutionReference,
  byAgreementNo,
  byInstitutionAgreementNo,
  byClaimNo,
  byBenefitCode,
  byUserId,
  byMobile,
  byEventId,
  byChannel,
  byProduct,
  byCardTail,
  byStartOfOrderNo,
];

const NOTHING = { status: null, appId: null, orderNo: null, channelUserId: null } as const;

function describeOrder(order: FoundOrder, matched: string, role: Role): SearchResult {
  const { status, appId } = order;
  const orderNo = String(order.orderNo);
  const subtitle = `${maskCardNumbers(order.externalOrderNo)} · ${order.productCode} · ${maskUserId(order.channelUserId, role)}`;
  return { ...NOTHING, kind: 'order', id: orderNo, title: orderNo, subtitle, status, appId, orderNo, matched };
}

async function describeAgreement(
  db: Queryable,
  agreement: FoundAgreement,
  matched: string,
  role: Role,
): Promise<SearchResult> {
  const { agreementNo: id, appId, status, paymentChannelCode, cardTail } = agreement;
  const user = maskUserId(agreement.channelUserId, role);
  const lead = await leadFrom(db, agreement, user);
  const subtitle = `${paymentChannelCode} · ${cardTail} · ${user}`;
  return { kind: 'agreement', id, title: id, subtitle, status, appId, ...lead, matched };
}

/** Returns where a result leads: to its user, or to the user's latest order if the operator may not see the user id. */
async function leadFrom(
  db: Queryable,
  user: FoundUser,
  shown: string,
): Promise<Pick<SearchResult, 'channelUserId' | 'orderNo'>> {
  if (shown === user.channelUserId) return { channelUserId: shown, orderNo: null };
  const latest = await findLatestOrder(db, user.appId, user.channelUserId);
  return { channelUserId: null, orderNo: latest ? String(latest.orderNo) : null };
}

/** `channelUserId` is not masked, because the link to the user needs it. */
function describeUser({ appId, channelUserId }: FoundUser, matched: string): SearchResult {
  const id = maskCardNumbers(channelUserId);
  return { ...NOTHING, kind: 'user', id, title: id, subtitle: appId, appId, channelUserId, matched };
}
