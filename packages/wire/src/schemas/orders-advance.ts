import { rehearsedOutcomes } from '../enums.js';
import { MAX_TOTAL_CYCLES } from '../limits.js';
import { Rejection } from '../rejection.js';
import { parseTime } from '../time.js';
import { Enum, Text } from './common.js';
import { orderReferenceChecks, orderReferenceFields } from './order-reference.js';
import { type Static, Type } from './type.js';

export const OrdersAdvanceRequest = Type.Object({
  ...orderReferenceFields,
  cycles: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_TOTAL_CYCLES })),
  to: Type.Optional(Text),
  outcomes: Type.Optional(Type.Array(Enum(rehearsedOutcomes), { maxItems: MAX_TOTAL_CYCLES })),
});
export type OrdersAdvanceRequest = Static<typeof OrdersAdvanceRequest>;

export function ordersAdvanceChecks(body: OrdersAdvanceRequest): void {
  orderReferenceChecks(body);
  const { cycles, to, outcomes = [] } = body;
  if (cycles === undefined && to === undefined) throw new Rejection('PARAM_INVALID', 'cycles or to is required');
  if (cycles !== undefined && to !== undefined)
    throw new Rejection('PARAM_INVALID', 'cycles and to are mutually exclusive');
  if (to !== undefined && parseTime(to) === undefined) throw new Rejection('PARAM_INVALID', 'to must be a time');
  if (cycles !== undefined && outcomes.length > cycles) {
    throw new Rejection('PARAM_INVALID', 'outcomes must not have more entries than cycles');
  }
}
