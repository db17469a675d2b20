import { type BindSmsData, type BindSmsRequest, Rejection } from '@perennial/wire';
import type { Action } from '../catalog/action.js';
import type { Channel } from '../catalog/channels/channel.js';
import type { Catalog } from '../catalog/products/catalog.js';
import type { BindCodeOutcome } from '../gateways/gateway.js';
import type { Gateways } from '../gateways/registry.js';
import type { Clock } from '../platform/clock.js';
import type { Queryable } from '../platform/db/database.js';
import type { KeyedHasher } from '../platform/secrets/keyed-hasher.js';
import type { Environment } from '../platform/settings.js';
import { effectivePaymentChannel, requireBank } from '../subscriptions/domain/agreements/payment-channel.js';
import { readPlaintext } from '../subscriptions/domain/agreements/plaintext.js';
import { type AgreementTransition, agreementAfter } from '../subscriptions/domain/agreements/states.js';
import { reserveSend } from '../subscriptions/steps/agreements/sms-limit.js';
import { cardColumns, readCard } from '../subscriptions/store/agreements/card.js';
import { deleteSend } from '../subscriptions/store/agreements/sms-limit-sql.js';
import {
  type BindingRow,
  findBinding,
  insertAgreement,
  lockBinding,
  nextAgreementId,
  restartBinding,
  storeCodeSent,
} from '../subscriptions/store/agreements/sql.js';
import { bindUserMobile, checkUserMobile } from '../subscriptions/store/users/mobile.js';

export interface BindSmsDeps {
  readonly catalog: Catalog;
  readonly gateways: Gateways;
  readonly bankMobiles: KeyedHasher;
  readonly clock: Clock;
  readonly environment: Environment;
}

/** A binding on which a code is being sent: what the first transaction wrote and the second goes on with. */
interface Sending {
  readonly agreementId: number;
  readonly details: string;
  readonly reservedAt: number;
}

/**
 * agreements/bind-sms. The first transaction writes the binding and counts the code; then the institution is asked to
 * send it; the second writes what became of it. Only a code that was sent ties the login mobile to the user.
 */
export function bindSms({ catalog, gateways, bankMobiles, clock, environment }: BindSmsDeps) {
  const limited = environment === 'production';

  const action: Action<BindSmsRequest, BindSmsData> = async (context, request) => {
    const { channel, origin, caller, database, once, answer } = context;
    const mobile = readPlaintext(channel, 'mobile', request.mobileEncrypted, 'mobileEncrypted');
    const card = readCard(channel, request);
    // The limit is the phone's and not the channel's, so that no two channels text the same one at a time.
    const bankMobileHash = limited ? await bankMobiles.hash(card.bankMobile) : undefined;
    const { former, paymentChannelCode } = await (once.interrupted === undefined
      ? check(database, channel, request)
      : takeUp(database, channel, once.interrupted));

    const sending = await database.transaction(async (tx) => {
      const agreementId = former?.agreementId ?? (await nextAgreementId(tx));
      // First of all, so that a twin on another node waits here instead of meeting what this one has written.
      if (once.interrupted === undefined) await once.begin(tx, String(agreementId));
      const reservedAt = clock.now();
      const columns = cardColumns(channel, agreementId, card, request.bankCode);
      if (former) {
        const row = await lockBinding(tx, channel.channelId, String(agreementId));
        await restartBinding(tx, agreementId, requireOpen(row).to, columns, reservedAt);
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
        await reserveSend(tx, bankMobileHash, reservedAt, { resumed: once.interrupted !== undefined });
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
      const failReason = await store(tx, sending, outcome);
      if (failReason === undefined) await bindUserMobile(tx, channel, request.channelUserId, mobile, clock.now());
      if (bankMobileHash && outcome.kind === 'not-sent') await deleteSend(tx, bankMobileHash, sending.reservedAt);
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

  /** The rules in the order of their codes. What can change meanwhile is looked at again under the row lock. */
  async function check(database: Queryable, channel: Channel, request: BindSmsRequest) {
    const { bindOrderNo, channelUserId, productCode, bankCode } = request;
    const former = bindOrderNo === undefined ? undefined : await findBinding(database, channel.channelId, bindOrderNo);
    if (former && former.channelUserId !== channelUserId) {
      throw new Rejection('PARAM_INVALID', 'channelUserId differs from the one of the binding order');
    }
    if (productCode !== undefined && productCode !== '') await catalog.product(database, channel, productCode);
    if (bindOrderNo !== undefined) requireOpen(former);
    const asked = request.paymentChannelCode ?? former?.paymentChannelCode;
    if (former && former.paymentChannelCode !== asked) throw new Rejection('BIND_CHANNEL_CHANGED');
    const paymentChannel = effectivePaymentChannel(await catalog.paymentChannels(channel), asked);
    requireBank(paymentChannel, bankCode);
    return { former, paymentChannelCode: paymentChannel.code };
  }

  /** After a crash: the rules were kept when the work began, and the binding is there since then. */
  async function takeUp(database: Queryable, channel: Channel, bindOrderNo: string) {
    const former = await findBinding(database, channel.channelId, bindOrderNo);
    if (!former) throw new Error(`binding order ${bindOrderNo} was begun and is not there`);
    return { former, paymentChannelCode: former.paymentChannelCode };
  }

  /** Why there is no code that could be confirmed, or nothing when there is one. */
  async function store(tx: Queryable, sending: Sending, outcome: BindCodeOutcome): Promise<string | undefined> {
    if (outcome.kind === 'not-sent') return outcome.reason;
    if (outcome.kind === 'unknown') return 'it is not known whether the code was sent, try again in a minute';
    const stored = await storeCodeSent(tx, sending, { at: clock.now(), reference: outcome.reference });
    return stored ? undefined : 'another request on the same binding order came in between';
  }
}

/** The step that another send is, or a Rejection. */
function requireOpen(row: BindingRow | undefined): AgreementTransition {
  if (!row) throw new Rejection('AGREEMENT_NOT_FOUND');
  const step = agreementAfter(row.status, 'bind-sms');
  if (!step) throw new Rejection('BIND_ORDER_CLOSED');
  return step;
}
