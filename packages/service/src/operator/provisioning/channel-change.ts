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
 * Wraps every change of a channel: locks the row, runs `work`, and if that changed something increments the version and
 * writes the audit row. `work` returns the detail of the audit row, or undefined if nothing changed.
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
