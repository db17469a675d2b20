import { type PaymentDetail, type PaymentsQueryRequest, Rejection } from '@perennial/wire';
import type { Action } from '../catalog/action.js';
import type { Clock } from '../platform/clock.js';
import { findPaymentDetail } from '../subscriptions/steps/orders/payment-detail.js';

export function createPaymentsQueryAction(clock: Clock): Action<PaymentsQueryRequest, PaymentDetail> {
  return async ({ channel, database, answer }, { paymentOrderNo }) => {
    const detail = await findPaymentDetail(database, channel.channelId, paymentOrderNo, clock.now());
    if (!detail) throw new Rejection('SUBSCRIPTION_NOT_FOUND');
    return answer(detail);
  };
}
