import type { Static } from '@perennial/wire';
import type { ChannelView } from '../../catalog/channels/channel-provisioning-sql.js';
import { type Changed, inTransaction, type Operator, refusal } from '../operator.js';
import type { Asked } from '../schemas/parts.js';
import type { channelChange } from '../schemas/setup.js';
import { requireChannelView } from './channel-change.js';
import {
  renameChannel,
  setCallback,
  setEncryption,
  setFrameOrigins,
  setIpAllowList,
  setLimits,
  setUpcomingNotices,
  setVoidedPeriodEvents,
} from './channel-settings.js';
import { resumeChannel, suspendChannel } from './channels.js';

/** Changes several settings of a channel, all or none. Writes one audit entry for each changed setting. */
export async function changeSettings(
  operator: Operator,
  { appId, ...given }: Asked<Static<typeof channelChange>> & { readonly appId: string },
): Promise<Changed<ChannelView>> {
  if (Object.values(given).every((value) => value === undefined))
    throw refusal('nothing-to-change')`there is nothing to change; give at least one value`;
  return inTransaction(operator, async (tx, joined) => {
    let changed = false;
    for (const change of listChanges(joined, appId, given)) changed = (await change()).changed || changed;
    return { ...(await requireChannelView(tx, appId)), changed };
  });
}

function listChanges(
  operator: Operator,
  appId: string,
  given: Asked<Static<typeof channelChange>>,
): (() => Promise<Changed<ChannelView>>)[] {
  const { name, status, ipAllowList: ranges, limits, voidedPeriodEvents: send, frameOrigins: origins } = given;
  const { encryption, callback, upcomingNoticeDays: days } = given;
  const when = <T>(value: T | undefined, change: (value: T) => Promise<Changed<ChannelView>>) =>
    value === undefined ? [] : [() => change(value)];
  return [
    ...when(name, (to) => renameChannel(operator, { appId, name: to })),
    ...when(status, (to) => (to === 'ACTIVE' ? resumeChannel : suspendChannel)(operator, { appId })),
    ...when(ranges, (to) => setIpAllowList(operator, { appId, ranges: to })),
    ...when(limits, (to) => setLimits(operator, { appId, ...to })),
    ...when(send, (to) => setVoidedPeriodEvents(operator, { appId, send: to })),
    ...when(days, (to) => setUpcomingNotices(operator, { appId, days: to })),
    ...when(origins, (to) => setFrameOrigins(operator, { appId, origins: to })),
    ...when(encryption, (to) => setEncryption(operator, { appId, ...to })),
    ...when(callback, (to) => setCallback(operator, { appId, ...to })),
  ];
}
