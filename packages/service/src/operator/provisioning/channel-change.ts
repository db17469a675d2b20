import {
  type ChannelView,
  describeChannels,
  lockChannel,
  raiseChannelVersion,
} from '../../catalog/channels/channel-provisioning-sql.js';
import type { ChannelRow } from '../../catalog/channels/channels-sql.js';
import type { Queryable } from '../../platform/db/database.js';
import { type AuditEntry, recordAudit } from '../audit.js';
import { type Changed, inTransaction, type Operator } from '../operator.js';
import { createNotFound, requireFound } from '../rules.js';

/**
 * The frame of every change to one channel: its row is locked, `work` is done, and if that changed something the
 * version is raised and the audit row written. Here once, so that no action can forget it.
 * `work` answers with what the audit row says, or with nothing when all was so already.
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
