import { lockDataKeys, storeDataKey } from '../channels/provisioning-sql.js';
import { recordAudit } from './audit.js';
import { inTransaction, type Operator } from './operator.js';

/**
 * The last step of changing MASTER_KEY: every channel's data key is wrapped under the current one, and then no node
 * needs the previous one. The data keys stay what they are, so nodes notice nothing and no version grows.
 */
export async function rewrapKeys(operator: Operator): Promise<{ channels: number }> {
  return inTransaction(operator, async (tx) => {
    const rows = await lockDataKeys(tx);
    for (const { channelId, dataKey } of rows) {
      await storeDataKey(tx, channelId, operator.vault.wrapKey(operator.vault.unwrapKey(dataKey)));
    }
    const detail = { channels: rows.length };
    await recordAudit(tx, { actor: operator.actor, action: 'master-key.rewrap', subject: 'installation', detail });
    return detail;
  });
}
