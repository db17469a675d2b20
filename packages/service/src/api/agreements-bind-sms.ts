import { type BindSmsData, type BindSmsRequest, Rejection } from '@perennial/wire';
import type { Action } from '../catalog/action.js';
import type { Channel } from '../catalog/channels/channel.js';
import type { BindCodeOutcome } from '../gateways/gateway.js';
import type { Queryable } from '../platform/db/database.js';
import {
  type AgreementTransition,
  findAgreementTransition,
} from '../subscriptions/domain/agreements/agreement-states.js';
import { choosePaymentChannel, requireServedBank } from '../subscriptions/domain/agreements/choose-payment-channel.js';
import { readPlaintext } from '../subscriptions/domain/agreements/plaintext.js';
import { reserveSmsSend } from '../subscriptions/steps/agreements/sms-limit.js';
import { bindUserMobile, checkUserMobile } from '../subscriptions/steps/users/login-mobile.js';
import {
  type BindingRow,
  findBinding,
  insertAgreement,
  lockBinding,
  restartBinding,
  storeCodeSent,
  takeAgreementId,
} from '../subscriptions/store/agreements/agreements-sql.js';
import { readCard, sealCard } from '../subscriptions/store/agreements/card.js';
import { deleteSmsSend } from '../subscriptions/store/agreements/sms-limit-sql.js';
import type { ApiDeps } from './api-deps.js';

export type BindSmsDeps = Pick<ApiDeps, 'catalog' | 'gateways' | 'bankMobiles' | 'clock' | 'environment'>;

/** Values that the first transaction passes to the second: the binding for which a code is being sent. */
interface BindCodeSending {
  readonly agreementId: number;
  readonly details: string;
  readonly reservedAt: number;
}

/**
 * agreements/bind-sms. The first transaction stores the binding and counts the code against the limits. Then the
 * institution sends the code, and the second transaction stores the outcome. The login mobile is bound to the user only
 * after a code was sent.
 */
export function createBindSmsAction({ catalog, gateways, bankMobiles, clock, environment }: BindSmsDeps) {
  const limited = environment === 'production';

  const action: Action<BindSmsRequest, BindSmsData> = async (context, request) => {
    const { channel, origin, caller, database, once, answer } = context;
    const mobile = readPlaintext(context, 'mobile', request.mobileEncrypted, 'mobileEncrypted');
    const card = readCard(context, request);
    // Limits codes per phone instead of per channel, so that two channels cannot text the same phone at once.
    const bankMobileHash = limited ? await bankMobiles.hash(card.bankMobile) : undefined;
    const { former, paymentChannelCode } = await (once.interrupted === undefined
      ? checkRequest(database, channel, request)
      : resumeSending(database, channel, once.interrupted));

    const sending = await database.transaction(async (tx) => {
      const agreementId = former?.agreementId ?? (await takeAgreementId(tx));
      // Must come before the transaction locks anything: a copy of the request on another node then waits here.
      if (once.interrupted === undefined) await once.begin(tx, String(agreementId));
      const reservedAt = clock.now();
      const columns = sealCard(channel, agreementId, card, request.bankCode);
      if (former) {
        const row = await lockBinding(tx, channel.channelId, String(agreementId));
        // An erasure may have come first. The card must not be stored with the pseudonym.
        requireSameUser(row, request.channelUserId);
        await restartBinding(tx, { agreementId, status: requireOpenBinding(row).to, ...columns, now: reservedAt });
      } else {
        await insertAgreement(tx, {
          agreementId,
          channelId: channel.channelId,
          channelUserId: request.channelUserId,
          paymentChannelCode,
          source: 'SELF_BINDING',
          status: 'BIND_ING',
          agreementNo: null,
          institutionNo: null,
          ...columns,
          createdAt: reservedAt,
        });
      }
      await checkUserMobile(tx, channel, request.channelUserId, mobile);
      if (bankMobileHash) {
        await reserveSmsSend(tx, bankMobileHash, reservedAt, { resumed: once.interrupted !== undefined });
      }
      return { agreementId, details: columns.details, reservedAt };
    });

    const gateway = await gateways.of(paymentChannelCode);
    const bindOrderNo = String(sending.agreementId);
    const { appId } = channel;
    const { bankCode } = request;
    const outcome = await caller.waitOutside(() =>
      gateway.sendBindCode({ appId, origin, bindOrderNo, bankCode, card }),
    );

    return database.transaction(async (tx) => {
      const failReason = await storeOutcome(tx, sending, outcome);
      if (failReason === undefined) await bindUserMobile(tx, channel, request.channelUserId, mobile, clock.now());
      if (bankMobileHash && outcome.kind === 'not-sent') await deleteSmsSend(tx, bankMobileHash, sending.reservedAt);
      return once.finish(
        tx,
        answer({
          bindOrderNo,
          paymentChannelCode,
          agreementStatus: 'BIND_ING',
          ...(failReason === undefined ? { smsStatus: 'SEND_SUCCESS' } : { smsStatus: 'SEND_FAIL', failReason }),
        }),
      );
    });
  };
  return action;

  /**
   * Checks the rules in the order of precedence of their result codes. The binding's status is checked again under the
   * lock.
   */
  async function checkRequest(database: Queryable, channel: Channel, request: BindSmsRequest) {
    const { bindOrderNo, channelUserId, productCode, bankCode } = request;
    const former = bindOrderNo === undefined ? undefined : await findBinding(database, channel.channelId, bindOrderNo);
    requireSameUser(former, channelUserId);
    if (productCode !== undefined && productCode !== '') await catalog.requireProduct(database, channel, productCode);
    if (bindOrderNo !== undefined) requireOpenBinding(former);
    const asked = request.paymentChannelCode ?? former?.paymentChannelCode;
    if (former && former.paymentChannelCode !== asked) throw new Rejection('BIND_CHANNEL_CHANGED');
    const paymentChannel = choosePaymentChannel(await catalog.paymentChannels(channel), asked);
    requireServedBank(paymentChannel, bankCode);
    return { former, paymentChannelCode: paymentChannel.code };
  }

  /** Continues after a crash. The rules were checked when the work began, and the binding is stored. */
  async function resumeSending(database: Queryable, channel: Channel, bindOrderNo: string) {
    const former = await findBinding(database, channel.channelId, bindOrderNo);
    if (!former) throw new Error(`binding order ${bindOrderNo} was begun but does not exist`);
    return { former, paymentChannelCode: former.paymentChannelCode };
  }

  /** If a code was sent, stores that. Returns undefined if the user can confirm the code, otherwise the reason why not. */
  async function storeOutcome(
    tx: Queryable,
    sending: BindCodeSending,
    outcome: BindCodeOutcome,
  ): Promise<string | undefined> {
    if (outcome.kind === 'not-sent') return outcome.reason;
    if (outcome.kind === 'unknown') return 'it is not known whether the code was sent, try again in a minute';
    const stored = await storeCodeSent(tx, { ...sending, at: clock.now(), reference: outcome.reference });
    return stored ? undefined : 'another request on the same binding order came in between';
  }
}

function requireSameUser(row: BindingRow | undefined, channelUserId: string): void {
  if (row && row.channelUserId !== channelUserId) {
    throw new Rejection('PARAM_INVALID', "channelUserId differs from the binding's");
  }
}

/** Returns the transition for sending another code. Throws if the binding is closed or missing. */
function requireOpenBinding(row: BindingRow | undefined): AgreementTransition {
  if (!row) throw new Rejection('AGREEMENT_NOT_FOUND');
  const step = findAgreementTransition(row.status, 'bind-sms');
  if (!step) throw new Rejection('BIND_ORDER_CLOSED');
  return step;
}
