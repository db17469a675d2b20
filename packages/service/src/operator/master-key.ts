import { lockDataKeys, storeDataKey } from '../channels/provisioning-sql.js';
import { lockSupplierKeys, storeSupplierKey } from '../fulfilment/settings-sql.js';
import { lockGatewayKeys, storeGatewayKey } from '../payment-channels/provisioning-sql.js';
import { lockLookUpKeys, storeLookUpKey } from '../secrets/look-up.js';
import { recordAudit } from './audit.js';
import { inTransaction, type Operator } from './operator.js';

/**
 * The last step of changing MASTER_KEY: every channel's data key and every bridge's and supplier's key is wrapped under the
 * current one, and then no node needs the previous one. The keys stay what they are, so nodes notice nothing.
 */
export async function rewrapKeys(operator: Operator): Promise<{ channels: number; paymentChannels: number }> {
  const rewrapped = (wrapped: string) => operator.vault.wrapKey(operator.vault.unwrapKey(wrapped));
  return inTransaction(operator, async (tx) => {
    const bridges = await lockGatewayKeys(tx);
    for (const { code, gatewayKey } of bridges) await storeGatewayKey(tx, code, rewrapped(gatewayKey));
    for (const { benefitCode, supplierKey } of await lockSupplierKeys(tx)) {
      await storeSupplierKey(tx, benefitCode, rewrapped(supplierKey));
    }
    for (const { purpose, wrapped } of await lockLookUpKeys(tx)) await storeLookUpKey(tx, purpose, rewrapped(wrapped));
    const channels = await lockDataKeys(tx);
    for (const { channelId, dataKey } of channels) await storeDataKey(tx, channelId, rewrapped(dataKey));
    const detail = { channels: channels.length, paymentChannels: bridges.length };
    await recordAudit(tx, { actor: operator.actor, action: 'master-key.rewrap', subject: 'installation', detail });
    return detail;
  });
}
