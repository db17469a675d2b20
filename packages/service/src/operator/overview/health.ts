import type { Static } from '@perennial/wire';
import { describePaymentChannels } from '../../catalog/payment-channels/payment-channel-provisioning-sql.js';
import type { Peer } from '../../gateways/call-counts.js';
import { findDecliningInstitutions, sumCalls, sumPushesByChannel } from '../../gateways/call-counts-sql.js';
import { findSilentInstitutions } from '../../gateways/institution-health-sql.js';
import type { Operator } from '../operator.js';
import { describeSuppliers } from '../provisioning/benefits-sql.js';
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

/** The number of channels that are listed. The events page has all. */
const MAX_CHANNELS = 100;

type Institution = Static<typeof healthAnswer>['institutions'][number];
type TimedSums = Awaited<ReturnType<typeof sumCalls>>[number];
type Sums = Omit<TimedSums, 'at' | 'peer' | 'code'>;

/** Returns the calls to institutions, suppliers and channels, and whether the institutions answer now. */
export async function readHealth(
  { database }: Operator,
  { range = '24h' }: Asked<Static<typeof healthQuery>>,
): Promise<Static<typeof healthAnswer>> {
  const name = requireOneOf('the range', range, RANGE_NAMES);
  const [sums, channels, paymentChannels, suppliers, silent, declining] = await Promise.all([
    sumCalls(database, RANGES[name]),
    sumPushesByChannel(database, { ...RANGES[name], limit: MAX_CHANNELS }),
    describePaymentChannels(database, null),
    describeSuppliers(database),
    findSilentInstitutions(database),
    findDecliningInstitutions(database),
  ]);
  const silentSince = new Map(silent.map((one) => [one.paymentChannelCode, one.since]));
  const decliningSince = new Map(declining.map((one) => [one.paymentChannelCode, one.since]));
  const times = [...new Set(sums.map(({ at }) => at))];
  const describe = (peer: Peer, code: string) => {
    const found = sums.filter((one) => one.peer === peer && one.code === code);
    return { calls: addUp(found), series: describeSpans(times, found) };
  };
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
    suppliers: suppliers.map((one) => ({ ...one, ...describe('SUPPLIER', one.benefitCode) })),
    callbacks: {
      ...describe('CHANNEL', ''),
      channels: channels.map(({ appId, name: channelName, ...one }) => ({
        appId,
        name: channelName,
        calls: addUp([one]),
      })),
    },
  };
}

function describeSpans(times: readonly string[], sums: readonly TimedSums[]): Institution['series'] {
  const byTime = new Map(sums.map((one) => [one.at, one]));
  return times.map((at) => {
    const { calls = 0, declined = 0, unknown = 0 } = byTime.get(at) ?? {};
    return { at, calls, declined, unknown };
  });
}

function addUp(sums: readonly Sums[]): Institution['calls'] {
  const total = (field: Exclude<keyof Sums, 'maxMs'>) => sums.reduce((sum, one) => sum + one[field], 0);
  const calls = total('calls');
  return {
    calls,
    succeeded: total('succeeded'),
    declined: total('declined'),
    unknown: total('unknown'),
    debitsPaid: total('debitsPaid'),
    debitsDeclined: total('debitsDeclined'),
    averageMs: calls === 0 ? null : Math.round(total('totalMs') / calls),
    slowestMs: calls === 0 ? null : Math.max(...sums.map(({ maxMs }) => maxMs ?? 0)),
  };
}
