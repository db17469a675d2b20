import type { PaymentChannelView } from '../../catalog/payment-channels/payment-channel-provisioning-sql.js';
import type { OneTimeGatewayKey } from '../../operator/provisioning/payment-channels.js';
import { type SafeText, safeText } from '../command/safe-text.js';
import { record, table } from '../command/table.js';

export function paymentChannelTable(paymentChannels: readonly PaymentChannelView[]): SafeText {
  return table(
    ['CODE', 'NAME', 'GATEWAY', 'BANKS', 'BANK CODE', 'DEBITS/S', 'HOURS', 'NUMBERS', 'CHANNELS'],
    paymentChannels.map((one) => [
      one.code,
      one.displayName,
      one.gateway,
      one.supportedBanks.join(', '),
      one.bankCodeRequired ? 'required' : 'optional',
      paceText(one),
      hoursText(one),
      one.commonNumbers ? 'common' : 'own',
      `${one.channels.length}`,
    ]),
  );
}

/**
 * Formats a payment channel with the new key of its bridge, which is shown only now. The sandbox gateway has no key.
 */
export function paymentChannelTextWithKey({ gatewayKey, ...one }: PaymentChannelView & OneTimeGatewayKey): SafeText {
  if (gatewayKey === undefined) return paymentChannelText(one);
  return safeText`${paymentChannelText(one)}\n\nKey of the bridge, shown only once:\n\n  ${gatewayKey}`;
}

export function paymentChannelText(one: PaymentChannelView): SafeText {
  return record([
    ['Code', one.code],
    ['Name', one.displayName],
    ['Gateway', one.gatewayUrl === null ? one.gateway : `${one.gateway} at ${one.gatewayUrl}`],
    ['Banks', one.supportedBanks.join(', ')],
    ['Bank code', one.bankCodeRequired ? 'required' : 'optional'],
    ['Debits per second', paceText(one)],
    ['Debit hours', hoursText(one)],
    ['Shared numbers', one.commonNumbers ? 'common to channels' : 'of one channel each'],
    ['Channels', one.channels.join(', ') || 'none'],
    ['Debits', one.debitsPausedAt === null ? 'not paused' : `renewals held since ${one.debitsPausedAt}`],
    ['Created', one.createdAt],
  ]);
}

function paceText({ debitsPerSecond }: PaymentChannelView): string {
  return debitsPerSecond === null ? 'any' : `${debitsPerSecond}`;
}

function hoursText({ debitHours }: PaymentChannelView): string {
  return debitHours === null ? 'any' : `${debitHours.from}-${debitHours.to}`;
}
