import {
  type ChannelView,
  describeChannels,
  lockChannel,
  raiseChannelVersion,
} from '../../catalog/channels/channel-provisioning-sql.js';
import type { ChannelRow } from '../../catalog/channels/channels-sql.js';
import type { Queryable } from '../../platform/db/database.js';
import { type AuditEntry, recordAudit } from '../audit/audit.js';
import { type Changed, inTransaction, type Operator } from '../operator.js';
import { createNotFound, requireFound } from '../rules.js';

/**
 * Changes a channel: locks its row and runs `work`, which returns the detail for the audit log, or undefined if it
 * changed nothing. After a change, increments the channel's version and writes the audit entry.
 */
export async function changeChannel(
  operator: Operator,
  appId: string,
  action: string,
  work: (tx: Queryable, channel: ChannelRow) => Promise<AuditEntry['detail'] | undefined>,
): Promise<Changed<ChannelView>> {
  return inTransaction(operator, async (tx) => {
    const channel = await lockChannel(tx, appId);
    if (!channel) throw createNotFound('channel', appId);
    const detail = await work(tx, channel);
    if (detail) {
      await raiseChannelVersion(tx, channel.channelId);
      await recordAudit(tx, { actor: operator.actor, action, subject: appId, detail });
    }
    return { ...(await requireChannelView(tx, appId)), changed: detail !== undefined };
  });
}

export async function requireChannelView(db: Queryable, appId: string): Promise<ChannelView> {
  return requireFound(await describeChannels(db, appId), 'channel', appId);
}
