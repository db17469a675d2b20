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

/** The spans of each range: the rows that are added up, the unit and the number. */
const RANGES = {
  '15m': { grain: 'MINUTE', unit: 'minute', spans: 15 },
  '24h': { grain: 'HOUR', unit: 'hour', spans: 24 },
  '30d': { grain: 'HOUR', unit: 'day', spans: 30 },
} as const;

const RANGE_NAMES = ['15m', '24h', '30d'] as const;

type Institution = Static<typeof healthAnswer>['institutions'][number];
type Sums = Awaited<ReturnType<typeof sumCalls>>[number];

/** Returns the calls to each institution and each supplier, and whether they answer now. */
export async function readHealth(
  { database }: Operator,
  { range = '24h' }: Asked<Static<typeof healthQuery>>,
): Promise<Static<typeof healthAnswer>> {
  const name = requireOneOf('the range', range, RANGE_NAMES);
  const [sums, paymentChannels, benefits, silent, declining] = await Promise.all([
    sumCalls(database, RANGES[name]),
    describePaymentChannels(database, null),
    listSuppliedBenefits(database),
    findSilentInstitutions(database),
    findDecliningInstitutions(database),
  ]);
  const silentSince = new Map(silent.map((one) => [one.paymentChannelCode, one.since]));
  const decliningSince = new Map(declining.map((one) => [one.paymentChannelCode, one.since]));
  const times = [...new Set(sums.map(({ at }) => at))];
  const describe = (peer: Peer, code: string) =>
    describeCalls(
      times,
      sums.filter((one) => one.peer === peer && one.code === code),
    );
  return {
    range: name,
    institutions: paymentChannels.map(({ code, displayName, gateway, debitsPausedAt }) => ({
      code,
      displayName,
      gateway,
      debitsPausedAt,
      silentSince: silentSince.get(code) ?? null,
      decliningSince: decliningSince.get(code) ?? null,
      ...describe('INSTITUTION', code),
    })),
    suppliers: benefits.map(({ code }) => ({ benefitCode: code, ...describe('SUPPLIER', code) })),
  };
}

/** Adds up the calls of the spans, and describes each span. */
function describeCalls(times: readonly string[], sums: readonly Sums[]): Pick<Institution, 'calls' | 'series'> {
  const byTime = new Map(sums.map((one) => [one.at, one]));
  const series = times.map((at) => {
    const { calls = 0, declined = 0, unknown = 0 } = byTime.get(at) ?? {};
    return { at, calls, declined, unknown };
  });
  const total = (field: 'calls' | 'succeeded' | 'declined' | 'unknown' | 'debitsPaid' | 'debitsDeclined' | 'totalMs') =>
    sums.reduce((sum, one) => sum + one[field], 0);
  const calls = total('calls');
  return {
    calls: {
      calls,
      succeeded: total('succeeded'),
      declined: total('declined'),
      unknown: total('unknown'),
      debitsPaid: total('debitsPaid'),
      debitsDeclined: total('debitsDeclined'),
      averageMs: calls === 0 ? null : Math.round(total('totalMs') / calls),
      slowestMs: calls === 0 ? null : Math.max(...sums.map(({ maxMs }) => maxMs ?? 0)),
    },
    series,
  };
}
