import type { Institution, ReceivedWebhook, Told, WebhookReading } from '../institution.js';
import type { BridgeLog } from '../log.js';
import type { BridgeMetrics } from '../metrics.js';
import type { Flows } from './operations.js';

export interface WebhookTools {
  readonly metrics: BridgeMetrics;
  readonly log: BridgeLog;
}

/** Writes down what the institution's own webhook said. Undefined when its signature does not hold. */
export function createWebhooks(
  flows: Flows,
  institution: Institution,
  { metrics, log }: WebhookTools,
): (webhook: ReceivedWebhook) => Promise<WebhookReading['answer'] | undefined> {
  return async (webhook) => {
    const reading = await institution.readWebhook?.(webhook);
    if (reading === undefined) {
      metrics.countWebhook('refused');
      log.warn({ operation: 'webhook' }, 'a webhook was refused: its signature does not hold');
      return undefined;
    }
    for (const told of reading.told) {
      const isOurs = await write(flows, told);
      // Somebody else may use the same account, and what has no number of ours is not ours to tell.
      metrics.countWebhook(isOurs ? told.about : 'unknown-number');
    }
    return reading.answer;
  };
}

async function write({ debits, refunds, agreements }: Flows, told: Told): Promise<boolean> {
  switch (told.about) {
    case 'debit':
      return debits.told(told.attemptNo, told.outcome);
    case 'refund':
      return refunds.told(told.refundNo, told.outcome);
    case 'agreement-ended':
      await agreements.ended(told.institutionNo, told.reason);
      return true;
  }
}
