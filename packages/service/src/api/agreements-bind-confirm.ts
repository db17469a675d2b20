import { type BindConfirmData, type BindConfirmRequest, Rejection } from '@perennial/wire';
import type { Action, ActionContext } from '../catalog/action.js';
import type { Channel } from '../catalog/channels/channel.js';
import type { BindOutcome } from '../gateways/gateway.js';
import { type Queryable, type Transactional, Unavailable } from '../platform/db/database.js';
import type { IdempotentRun } from '../platform/idempotency/run-once.js';
import { findAgreementTransition } from '../subscriptions/domain/agreements/agreement-states.js';
import { readPlaintext } from '../subscriptions/domain/agreements/plaintext.js';
import {
  lockEarlierBinding,
  replaceEarlierBinding,
  retryWhileCardChanges,
} from '../subscriptions/steps/agreements/same-card.js';
import {
  type BindingRow,
  countCodeTry,
  findBinding,
  lockBinding,
  storeBoundAgreement,
  storeRefusedBinding,
  uncountCodeTry,
} from '../subscriptions/store/agreements/agreements-sql.js';
import { formatAgreementNo, sealInstitutionNo } from '../subscriptions/store/agreements/card.js';
import type { ApiDeps } from './api-deps.js';

export type BindConfirmDeps = Pick<ApiDeps, 'gateways' | 'institutionNumbers' | 'clock' | 'environment'>;

const CODE_LIFETIME_MS = 5 * 60_000;
const MAX_WRONG_CODES = 5;

type BindVerdict = Exclude<BindOutcome, { readonly kind: 'unknown' }>;

type AskContext = Pick<ActionContext<never>, 'database' | 'caller' | 'channel' | 'origin'>;

/**
 * agreements/bind-confirm. The first transaction counts the attempt, then the institution checks the code, and the
 * second transaction stores the outcome under the binding's row lock. If two requests succeed, the request that gets
 * the lock first decides. If the card already has a binding, the new binding replaces it and takes over its orders.
 */
export function createBindConfirmAction({ gateways, institutionNumbers, clock, environment }: BindConfirmDeps) {
  const action: Action<BindConfirmRequest, BindConfirmData> = async (context, request) => {
    const { channel, database, once, answer } = context;
    const smsCode = readPlaintext(context, 'code', request.smsCodeEncrypted, 'smsCodeEncrypted');
    const asked = await (once.interrupted === undefined
      ? beginConfirmation(database, channel, once, request.bindOrderNo)
      : resumeConfirmation(database, channel, once.interrupted));
    const verdict = asked.status === 'BIND_SUCCESS' ? undefined : await askInstitution(context, asked, smsCode);
    return retryWhileCardChanges(() =>
      database.transaction(async (tx) => once.finish(tx, answer(await storeVerdict(tx, channel, asked, verdict)))),
    );
  };
  return action;

  async function beginConfirmation(
    database: Transactional,
    channel: Channel,
    once: IdempotentRun,
    bindOrderNo: string,
  ): Promise<BindingRow> {
    return database.transaction(async (tx) => {
      await once.begin(tx, bindOrderNo);
      const row = await lockBinding(tx, channel.channelId, bindOrderNo);
      if (!row) throw new Rejection('AGREEMENT_NOT_FOUND');
      if (!findAgreementTransition(row.status, 'confirm-right')) throw new Rejection('BIND_ORDER_CLOSED');
      if (row.codeSentAt === null || clock.now() - row.codeSentAt > CODE_LIFETIME_MS) {
        throw new Rejection('SMS_CODE_EXPIRED');
      }
      if (environment === 'production' && row.wrongCodes >= MAX_WRONG_CODES) throw new Rejection('SMS_CODE_EXPIRED');
      await countCodeTry(tx, row.agreementId);
      return row;
    });
  }

  /**
   * Continues after a crash or an unknown outcome. Does not check the code's age again, because the institution may
   * already have bound the card.
   */
  async function resumeConfirmation(database: Queryable, channel: Channel, bindOrderNo: string): Promise<BindingRow> {
    const row = await findBinding(database, channel.channelId, bindOrderNo);
    if (!row) throw new Error(`binding order ${bindOrderNo} was begun but does not exist`);
    if (row.status === 'BIND_SUCCESS') return row;
    if (!findAgreementTransition(row.status, 'confirm-right')) throw new Rejection('BIND_ORDER_CLOSED');
    if (row.codeSentAt === null) throw new Rejection('SMS_CODE_EXPIRED');
    return row;
  }

  async function askInstitution(
    { database, caller, channel, origin }: AskContext,
    asked: BindingRow,
    smsCode: string,
  ): Promise<BindVerdict> {
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
    await uncountCodeTry(database, asked);
    throw new Unavailable('the institution did not say whether the card is bound');
  }

  async function storeVerdict(
    tx: Queryable,
    channel: Channel,
    asked: BindingRow,
    verdict: BindVerdict | undefined,
  ): Promise<BindConfirmData> {
    const earlier = verdict?.kind === 'bound' ? await lockEarlierBinding(tx, asked) : undefined;
    const row = await lockBinding(tx, channel.channelId, String(asked.agreementId));
    if (row?.status === 'BIND_SUCCESS') return createBoundAnswer(row);
    const { agreementId } = asked;
    if (verdict?.kind === 'bound') {
      const step = row && findAgreementTransition(row.status, 'confirm-right');
      if (!step) throw new Rejection('BIND_ORDER_CLOSED');
      const agreementNo = formatAgreementNo(agreementId);
      const institutionNo = sealInstitutionNo(channel, agreementId, verdict.institutionNo);
      const institutionHash = await institutionNumbers.hash(verdict.institutionNo);
      const bound = { ...asked, status: step.to, agreementNo, institutionNo, institutionHash };
      if (earlier)
        await replaceEarlierBinding(tx, { ...earlier, newAgreementId: agreementId, institutionHash }, clock.now());
      await storeBoundAgreement(tx, { ...bound, now: clock.now() });
      return createBoundAnswer(bound);
    }
    const step =
      row && findAgreementTransition(row.status, verdict?.kind === 'refused' ? 'confirm-refused' : 'confirm-wrong');
    if (!step || !verdict) throw new Rejection('BIND_ORDER_CLOSED');
    if (verdict.kind === 'refused') await storeRefusedBinding(tx, { ...asked, status: step.to, now: clock.now() });
    return {
      agreementNo: null,
      agreementStatus: 'BIND_FAIL',
      bankCardTailNo: asked.cardTail,
      failReason: verdict.reason,
      ...(verdict.kind === 'wrong-code' ? { codeRetryable: true } : {}),
    };
  }
}

function createBoundAnswer({ agreementNo, cardTail }: BindingRow): BindConfirmData {
  return { agreementNo, agreementStatus: 'BIND_SUCCESS', bankCardTailNo: cardTail };
}
