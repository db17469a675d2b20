import { alertText } from '../../alerts/alert-wordings.js';
import { raiseAlertOnChange } from '../../alerts/alerts-sql.js';
import { createAuditHeadMessage } from '../../alerts/message.js';
import { AlertNotTaken } from '../../alerts/transport.js';
import { type AuditHead, type AuditProblem, verifyAuditOnSchedule } from '../../operator/audit/audit-chain.js';
import { BusyError } from '../../operator/operator.js';
import type { AlertingDeps } from './alerts.js';

const SENTENCES = {
  changed: 'audit-chain-broken',
  unsealed: 'audit-chain-broken|unsealed',
  replaced: 'audit-chain-broken|replaced',
} as const satisfies Record<AuditProblem, string>;

/**
 * The number of runs without a verification after which an alert is raised: an hour. Any role of the database can hold
 * the lock of the verification, or lock the table, and would otherwise hide a changed log.
 */
const MAX_MISSED = 6;

/**
 * Verifies the audit log when a verification is due. If the log is broken, or was not verified for an hour, raises an
 * alert. Otherwise reports the end of the log if the end has changed.
 */
export function createAuditJob({ database, log, alertWays = [], alertSender }: AlertingDeps) {
  /** The last head that this node has seen. Kept in memory, where a database writer cannot change it. */
  let seen: AuditHead | undefined;
  let unsent: AuditHead | undefined;
  let missed = 0;
  const raise = (detail: string) => raiseAlertOnChange(database, 'audit-chain-broken', 'audit log', detail);

  /** Returns undefined if another node has just verified the log, or is verifying it. */
  async function verify() {
    const link = seen && { chainNo: seen.chainNo, chain: Buffer.from(seen.hash, 'hex') };
    try {
      const verified = await verifyAuditOnSchedule({ database }, link);
      missed = 0;
      return verified;
    } catch (error) {
      missed += 1;
      if (missed >= MAX_MISSED) await raise(alertText('audit-chain-broken|not-verified'));
      if (error instanceof BusyError) return undefined;
      throw error;
    }
  }

  return async function watchAuditLog(): Promise<void> {
    const verified = await verify();
    if (verified?.problem && verified.brokenAt) {
      await raise(alertText(SENTENCES[verified.problem], verified.brokenAt, verified.faults));
    }
    const head = verified?.head;
    if (head && head.chainNo !== seen?.chainNo) {
      log.info({ auditHead: head }, 'end of the audit log');
      seen = head;
      unsent = head;
    }
    if (unsent) await send(unsent);
  };

  /**
   * Sends the end of the log from memory, because a database writer could change a stored message. The next run retries
   * a failed message.
   */
  async function send(head: AuditHead): Promise<void> {
    const sender = alertSender?.() ?? { environment: '', service: '' };
    for (const way of alertWays.filter((one) => one.way === 'WEBHOOK')) {
      try {
        await way.send(`audit-head-${head.chainNo}`, createAuditHeadMessage(head, sender));
      } catch (error) {
        if (!(error instanceof AlertNotTaken)) throw error;
        log.warn(
          { why: error.message, cause: 'audit head' },
          'the end of the audit log was not accepted; the next run sends it again',
        );
        return;
      }
    }
    unsent = undefined;
  }
}
