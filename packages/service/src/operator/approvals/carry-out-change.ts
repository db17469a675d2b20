import type { Queryable } from '../../platform/db/database.js';
import { noteSecondPerson, recordAudit } from '../audit/audit.js';
import { inTransaction, type Operator, type OperatorError, type OperatorWithGateways, refusal } from '../operator.js';
import { resultText } from '../result-texts.js';
import { createNotFound } from '../rules.js';
import { type Approval, lockApproval, storeChangeResult, storeDecision } from './approvals-sql.js';
import { isRefusal } from './carry-out.js';
import { deciderOf } from './changes.js';
import { isActive } from './changes-sql.js';

/** Finds the step of a stored change by its operation. Throws if there is none. */
export type FindStep = (operation: string) => {
  readonly showsSecret: boolean;
  run(operator: OperatorWithGateways, input: object): Promise<ShowSecrets>;
};

/** Returns the secrets to show. Call it after the commit. */
type ShowSecrets = (operator: OperatorWithGateways) => Promise<Readonly<Record<string, string>>>;

/** Thrown if the step of an approved change refuses, to roll the transaction back. */
export class StepRefused extends Error {
  constructor(readonly refused: OperatorError) {
    super(refused.message);
  }
}

/** Carries out an approved change in the name of its requester. The caller holds the lock of the approval. */
export async function carryOutChange(
  tx: Queryable,
  joined: OperatorWithGateways,
  { approvalId, kind, note, change, subject, requestedBy, decidedBy: approvedBy }: Approval,
  findStep: FindStep,
) {
  if (!change) throw new Error(`approval ${approvalId} is about no change`);
  const roles = ['admin', deciderOf(kind, note)];
  if (!(await isActive(tx, requestedBy, roles))) {
    throw refusal('requester-not-admin')`${requestedBy}, who has requested this, may no longer make this change`;
  }
  if (!(await isActive(tx, approvedBy ?? '', roles))) {
    throw refusal('approver-not-admin')`${approvedBy ?? ''}, who has approved this, may no longer approve it`;
  }
  // The erasure of a user removes the input of all requests about the user.
  if (!change.input) throw new StepRefused(createNotFound('user', subject));
  noteSecondPerson(tx, { approvalId: String(approvalId), approvedBy });
  const showSecrets = await findStep(change.operation)
    .run({ ...joined, actor: requestedBy }, change.input)
    .catch((error: unknown) => {
      throw isRefusal(error) ? new StepRefused(error) : error;
    });
  noteSecondPerson(tx, {});
  return {
    approval: await storeChangeResult(tx, approvalId, 'APPROVED', resultText('change-made'), null),
    showSecrets,
  };
}

/** Stores that the approved change could not be made. */
export async function failChange(
  operator: Operator,
  approvalId: number,
  { message, refusal: why }: OperatorError,
  note: string | null,
): Promise<Approval> {
  const { actor } = operator;
  return inTransaction(operator, async (tx) => {
    const approval = await lockApproval(tx, approvalId);
    if (!approval) throw createNotFound('approval', String(approvalId));
    const { status, subject, requestedBy } = approval;
    // A concurrent decision may have come first.
    if (status !== 'WAITING' && !approval.isOpen) return approval;
    if (status === 'WAITING') await storeDecision(tx, approvalId, 'FAILED', actor, note, null);
    const detail = { approvalId: String(approvalId), about: approval.note, requestedBy, reason: message };
    await recordAudit(tx, {
      actor,
      action: 'approval.fail',
      subject,
      detail: { ...detail, from: status, to: 'FAILED' },
    });
    return storeChangeResult(tx, approvalId, 'FAILED', `not done: ${message}`, why ? JSON.stringify(why) : null);
  });
}
