import type { Static } from '@perennial/wire';
import { describePaymentChannels } from '../../catalog/payment-channels/payment-channel-provisioning-sql.js';
import { listSuppliedBenefits } from '../../fulfilment/fulfilment-settings-sql.js';
import type { Peer } from '../../gateways/call-counts.js';
import { findDecliningInstitutions, sumCalls } from '../../gateways/call-counts-sql.js';
import { findSilentInstitutions } from '../../gateways/institution-health-sql.js';
import type { Operator } from '../operator.js';
import { requireOneOf } from '../rules.js';
import type { healthAnswer, healthQuery } from '../schemas/health.js';
import type { Asked } from '../schemas/parts.js';

const MINUTE = 60;
const DAY = 86_400;
const RANGES = {
  '15m': ['MINUTE', 15 * MINUTE],
  '24h': ['HOUR', DAY],
  '30d': ['HOUR', 30 * DAY],
} as const;

const RANGE_NAMES = ['15m', '24h', '30d'] as const;

type Calls = Static<typeof healthAnswer>['institutions'][number]['calls'];
type Sums = Awaited<ReturnType<typeof sumCalls>>[number];

const NO_CALLS: Calls = {
  calls: 0,
  succeeded: 0,
  declined: 0,
  unknown: 0,
  debitsPaid: 0,
  debitsDeclined: 0,
  averageMs: null,
  slowestMs: null,
};

/** Returns the calls to each institution and each supplier, and whether they answer now. */
export async function readHealth(
  { database }: Operator,
  { range = '24h' }: Asked<Static<typeof healthQuery>>,
): Promise<Static<typeof healthAnswer>> {
  const [grain, seconds] = RANGES[requireOneOf('the range', range, RANGE_NAMES)];
  const [sums, paymentChannels, benefits, silent, declining] = await Promise.all([
    sumCalls(database, grain, seconds),
    describePaymentChannels(database, null),
    listSuppliedBenefits(database),
    findSilentInstitutions(database),
    findDecliningInstitutions(database),
  ]);
  const silentSince = new Map(silent.map((one) => [one.paymentChannelCode, one.since]));
  const decliningSince = new Map(declining.map((one) => [one.paymentChannelCode, one.since]));
  const callsOf = (peer: Peer, code: string) => toCalls(sums.find((one) => one.peer === peer && one.code === code));
  return {
    institutions: paymentChannels.map(({ code, displayName, gateway, debitsPausedAt }) => ({
      code,
      displayName,
      gateway,
      debitsPausedAt,
      silentSince: silentSince.get(code) ?? null,
      decliningSince: decliningSince.get(code) ?? null,
      calls: callsOf('INSTITUTION', code),
    })),
    suppliers: benefits.map(({ code }) => ({ benefitCode: code, calls: callsOf('SUPPLIER', code) })),
  };
}

function toCalls(sums: Sums | undefined): Calls {
  if (sums === undefined) return NO_CALLS;
  const { calls, succeeded, declined, unknown, debitsPaid, debitsDeclined, totalMs, maxMs } = sums;
  const counts = { calls, succeeded, declined, unknown, debitsPaid, debitsDeclined };
  if (calls === 0) return { ...NO_CALLS, ...counts };
  return { ...counts, averageMs: Math.round(totalMs / calls), slowestMs: maxMs };
}
