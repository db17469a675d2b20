import { type BindConfirmData, type BindConfirmRequest, Rejection } from '@perennial/wire';
import type { Action, ActionContext } from '../catalog/action.js';
import type { Channel } from '../catalog/channels/channel.js';
import type { BindOutcome } from '../gateways/gateway.js';
import type { Gateways } from '../gateways/registry.js';
import type { Clock } from '../platform/clock.js';
import { type Queryable, type Transactional, Unavailable } from '../platform/db/database.js';
import type { IdempotentRun } from '../platform/idempotency/run-once.js';
import type { KeyedHasher } from '../platform/secrets/keyed-hasher.js';
import type { Environment } from '../platform/settings.js';
import { readPlaintext } from '../subscriptions/domain/agreements/plaintext.js';
import { agreementAfter } from '../subscriptions/domain/agreements/states.js';
import {
  lockEarlierBinding,
  replaceEarlierBinding,
  untilCardIsFree,
} from '../subscriptions/steps/agreements/same-card.js';
import { agreementNoOf, sealInstitutionNo } from '../subscriptions/store/agreements/card.js';
import {
  type BindingRow,
  countTry,
  findBinding,
  lockBinding,
  storeBound,
  storeRefused,
  uncountTry,
} from '../subscriptions/store/agreements/sql.js';

export interface BindConfirmDeps {
  readonly gateways: Gateways;
  readonly institutionNumbers: KeyedHasher;
  readonly clock: Clock;
  readonly environment: Environment;
}

const CODE_LIFETIME_MS = 5 * 60_000;
const MOST_WRONG_CODES = 5;

/** An outcome that says something. */
type Verdict = Exclude<BindOutcome, { readonly kind: 'unknown' }>;

type Asking = Pick<ActionContext<never>, 'database' | 'caller' | 'channel' | 'origin'>;

/**
 * agreements/bind-confirm. The first transaction counts the try; then the institution is asked about the code; the
 * second, under the binding's row lock, writes what it said. Of two that come through, the first to get the lock decides. A
 * card that was bound before is the new binding's from then on, with the orders that run on it.
 */
export function bindConfirm({ gateways, institutionNumbers, clock, environment }: BindConfirmDeps) {
  const action: Action<BindConfirmRequest, BindConfirmData> = async (context, request) => {
    const { channel, database, once, answer } = context;
    const smsCode = readPlaintext(channel, 'code', request.smsCodeEncrypted, 'smsCodeEncrypted');
    const asked = await (once.interrupted === undefined
      ? begin(database, channel, once, request.bindOrderNo)
      : takeUp(database, channel, once.interrupted));
    const verdict = asked.status === 'BIND_SUCCESS' ? undefined : await ask(context, asked, smsCode);
    return untilCardIsFree(() =>
      database.transaction(async (tx) => once.finish(tx, answer(await settle(tx, channel, asked, verdict)))),
    );
  };
  return action;

  async function begin(
    database: Transactional,
    channel: Channel,
    once: IdempotentRun,
    bindOrderNo: string,
  ): Promise<BindingRow> {
    return database.transaction(async (tx) => {
      await once.begin(tx, bindOrderNo);
      const row = await lockBinding(tx, channel.channelId, bindOrderNo);
      if (!row) throw new Rejection('AGREEMENT_NOT_FOUND');
      if (!agreementAfter(row.status, 'confirm-right')) throw new Rejection('BIND_ORDER_CLOSED');
      if (row.codeSentAt === null || clock.now() - row.codeSentAt > CODE_LIFETIME_MS) {
        throw new Rejection('SMS_CODE_EXPIRED');
      }
      if (environment === 'production' && row.wrongCodes >= MOST_WRONG_CODES) throw new Rejection('SMS_CODE_EXPIRED');
      await countTry(tx, row.agreementId);
      return row;
    });
  }

  /** After a crash or an unknown outcome: the code was good when it came, and the institution may have bound it since. */
  async function takeUp(database: Queryable, channel: Channel, bindOrderNo: string): Promise<BindingRow> {
    const row = await findBinding(database, channel.channelId, bindOrderNo);
    if (!row) throw new Error(`binding order ${bindOrderNo} was begun and is not there`);
    if (row.status === 'BIND_SUCCESS') return row;
    if (!agreementAfter(row.status, 'confirm-right')) throw new Rejection('BIND_ORDER_CLOSED');
    if (row.codeSentAt === null) throw new Rejection('SMS_CODE_EXPIRED');
    return row;
  }

  async function ask(
    { database, caller, channel, origin }: Asking,
    asked: BindingRow,
    smsCode: string,
  ): Promise<Verdict> {
    const gateway = await gateways.of(asked.paymentChannelCode);
    const confirmation = {
      appId: channel.appId,
      origin,
      bindOrderNo: String(asked.agreementId),
      reference: asked.gatewayReference ?? undefined,
      smsCode,
    };
    const outcome = await caller.waitOutside(() => gateway.confirmBind(confirmation));
    if (outcome.kind !== 'unknown') return outcome;
    await uncountTry(database, asked);
    throw new Unavailable('the institution did not say whether the card is bound');
  }

  async function settle(
    tx: Queryable,
    channel: Channel,
    asked: BindingRow,
    verdict: Verdict | undefined,
  ): Promise<BindConfirmData> {
    const earlier = verdict?.kind === 'bound' ? await lockEarlierBinding(tx, asked) : undefined;
    const row = await lockBinding(tx, channel.channelId, String(asked.agreementId));
    if (row?.status === 'BIND_SUCCESS') return bound(row);
    const { agreementId } = asked;
    if (verdict?.kind === 'bound') {
      const step = row && agreementAfter(row.status, 'confirm-right');
      if (!step) throw new Rejection('BIND_ORDER_CLOSED');
      const agreementNo = agreementNoOf(agreementId);
      const institutionNo = sealInstitutionNo(channel, agreementId, verdict.institutionNo);
      const institutionHash = await institutionNumbers.hash(verdict.institutionNo);
      const now = { ...asked, status: step.to, agreementNo, institutionNo, institutionHash };
      if (earlier) await replaceEarlierBinding(tx, { ...earlier, toId: agreementId, institutionHash }, clock.now());
      await storeBound(tx, now, clock.now());
      return bound(now);
    }
    const step = row && agreementAfter(row.status, verdict?.kind === 'refused' ? 'confirm-refused' : 'confirm-wrong');
    if (!step || !verdict) throw new Rejection('BIND_ORDER_CLOSED');
    if (verdict.kind === 'refused') await storeRefused(tx, asked, step.to, clock.now());
    return {
      agreementNo: null,
      agreementStatus: 'BIND_FAIL',
      bankCardTailNo: asked.cardTail,
      failReason: verdict.reason,
    };
  }
}

function bound({ agreementNo, cardTail }: BindingRow): BindConfirmData {
  return { agreementNo, agreementStatus: 'BIND_SUCCESS', bankCardTailNo: cardTail };
}
