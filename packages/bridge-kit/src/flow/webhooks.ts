import { MAX_TEXT_LENGTH, numberOf, textOf } from '@perennial/wire/bridge';
import type { Institution, ReceivedWebhook, RefLookUp, Told, WebhookReading } from '../institution.js';
import type { BridgeLog } from '../log.js';
import type { BridgeMetrics } from '../metrics.js';
import { BadMessage } from '../server/refusals.js';
import type { Flows } from './operations.js';

export interface WebhookTools {
  readonly metrics: BridgeMetrics;
  readonly log: BridgeLog;
  readonly refs: RefLookUp;
}

/**
 * Records the institution's webhooks and returns the HTTP answer. Returns undefined if the signature is invalid or the
 * institution has no webhooks.
 */
export function createWebhooks(
  flows: Flows,
  institution: Institution,
  { metrics, log, refs }: WebhookTools,
): (webhook: ReceivedWebhook) => Promise<WebhookReading['answer'] | undefined> {
  async function read(webhook: ReceivedWebhook): Promise<WebhookReading | undefined> {
    try {
      return await institution.readWebhook?.(webhook, refs);
    } catch (err) {
      if (err instanceof BadMessage) {
        metrics.countWebhook('malformed');
        log.warn({ operation: 'webhook', err }, 'a webhook was refused: its body is not in the institution’s format');
      }
      throw err;
    }
  }

  return async (webhook) => {
    const reading = await read(webhook);
    if (!reading) {
      metrics.countWebhook('refused');
      log.warn({ operation: 'webhook' }, 'a webhook was refused: its signature is invalid');
      return undefined;
    }
    for (const told of reading.told) {
      const isOurs = await write(flows, told);
      // Only counted, not logged: another system may use the same account, and its numbers are not in our book.
      metrics.countWebhook(isOurs ? told.about : 'unknown-number');
    }
    return reading.answer;
  };
}

/**
 * Records one event. Returns false if the book does not have the debit or refund, or if the agreement number is
 * invalid.
 */
async function write({ debits, refunds, agreements }: Flows, told: Told): Promise<boolean> {
  switch (told.about) {
    case 'debit':
      return numberOf(told.attemptNo) !== undefined && debits.told(told.attemptNo, told.outcome);
    case 'refund':
      return numberOf(told.refundNo) !== undefined && refunds.told(told.refundNo, told.outcome);
    case 'agreement-ended':
      if (textOf(told.institutionNo, MAX_TEXT_LENGTH) === undefined) return false;
      await agreements.ended(told.institutionNo, told.reason);
      return true;
  }
}
