import type { Queryable } from '../../platform/db/database.js';
import type { Said } from '../../platform/wordings.js';
import { recordAudit } from '../audit.js';
import { type Changed, inTransaction, type Operator, type OperatorWithGateways, refusal } from '../operator.js';
import { type PageInput, readPage } from '../paging.js';
import { mayDo, type Role } from '../people/roles.js';
import { readResult, resultText } from '../result-texts.js';
import { createNotFound, requireName } from '../rules.js';
import { type Approval, findApprovals, lockApproval, storeDecision } from './approvals-sql.js';
import { declineRun, startApprovedRun } from './approved-runs-sql.js';
import { carryOut } from './carry-out.js';
import { parsePeriodSubject } from './subjects.js';

export interface ApprovalView extends Omit<Approval, 'approvalId' | 'key' | 'refusal'> {
  readonly approvalId: string;
  /** What the result says, for pages in other languages. */
  readonly said: Said | null;
  readonly orderNo: string | null;
  readonly runId: string | null;
  /** Whether the person who asks may decide: never their own. */
  readonly mayDecide: boolean;
}

/** Who looks at approvals. */
export interface Onlooker {
  readonly name: string;
  readonly role: Role;
}

export interface ListApprovalsInput extends PageInput {
  readonly status?: string | undefined;
}

/** The latest first. */
export async function listApprovals(
  { database }: Operator,
  input: ListApprovalsInput,
  onlooker: Onlooker,
): Promise<{ readonly approvals: ApprovalView[]; readonly nextCursor: string | null }> {
  const { rows, nextCursor } = await readPage(
    input,
    [0],
    (after, limit) => findApprovals(database, input.status, after?.[0], limit),
    ({ approvalId }) => [approvalId],
  );
  return { approvals: rows.map((row) => describeApproval(row, onlooker)), nextCursor };
}

export interface DecideInput {
  readonly approvalId: string;
  readonly note?: string | undefined;
}

/**
 * Approves what somebody else has asked for, and does it. Approved a second time, nothing is done twice; if the process dies
 * in between, the engine finishes it.
 */
export async function approve(
  operator: OperatorWithGateways,
  input: DecideInput,
  onlooker: Onlooker,
): Promise<Changed<ApprovalView>> {
  const { approval, changed } = await decide(operator, input, 'APPROVED');
  return { ...describeApproval(await carryOut(operator, approval), onlooker), changed };
}

/** Nothing is done then. */
export async function decline(
  operator: Operator,
  input: DecideInput,
  onlooker: Onlooker,
): Promise<Changed<ApprovalView>> {
  const { approval, changed } = await decide(operator, input, 'DECLINED');
  return { ...describeApproval(approval, onlooker), changed };
}

async function decide(
  operator: Operator,
  input: DecideInput,
  status: 'APPROVED' | 'DECLINED',
): Promise<{ readonly approval: Approval; readonly changed: boolean }> {
  const { actor } = operator;
  const note = input.note === undefined ? null : requireName('the note', input.note);
  return inTransaction(operator, async (tx) => {
    const approval = await requireLockedApproval(tx, input.approvalId);
    if (approval.requestedBy === actor) {
      throw refusal('decides-own-request')`${actor} has asked for this: another person has to decide`;
    }
    if (approval.status === status) return { approval, changed: false };
    if (approval.status !== 'WAITING') {
      throw refusal(
        'approval-decided',
      )`approval ${input.approvalId} is ${approval.status}: ${approval.decidedBy} has decided`;
    }
    const result = approval.kind === 'BULK' ? await decideRun(tx, approval, status) : null;
    const decided = await storeDecision(tx, approval.approvalId, { status, decidedBy: actor, note, result });
    const { kind, subject, amountCent, requestedBy, approvalId } = approval;
    const detail = {
      approvalId: String(approvalId),
      about: subject,
      amountCent,
      requestedBy,
      note,
      from: approval.status,
      to: status,
    };
    await recordAudit(tx, {
      actor,
      action: status === 'APPROVED' ? 'approval.approve' : 'approval.decline',
      subject: kind === 'REFUND' ? String(parsePeriodSubject(subject)?.orderNo) : `run-${subject}`,
      detail,
    });
    return { approval: decided, changed: true };
  });
}

/** With its decision, so that nothing is left to be done after the commit. */
async function decideRun(
  tx: Queryable,
  { subject }: Approval,
  status: 'APPROVED' | 'DECLINED',
): Promise<string | null> {
  if (status === 'DECLINED') {
    await declineRun(tx, Number(subject));
    return null;
  }
  if (!(await startApprovedRun(tx, Number(subject))))
    throw refusal('run-not-waiting')`run ${subject} does not wait any more`;
  return resultText('run-started', subject);
}

async function requireLockedApproval(tx: Queryable, text: string): Promise<Approval> {
  const approval = /^[1-9]\d{0,14}$/.test(text) ? await lockApproval(tx, Number(text)) : undefined;
  if (!approval) throw createNotFound('approval', text);
  return approval;
}

function describeApproval(
  { approvalId, key: _, refusal: why, ...approval }: Approval,
  { name, role }: Onlooker,
): ApprovalView {
  const { kind, subject, status, requestedBy } = approval;
  const isRefund = kind === 'REFUND';
  return {
    ...approval,
    approvalId: String(approvalId),
    orderNo: isRefund ? String(parsePeriodSubject(subject)?.orderNo) : null,
    runId: isRefund ? null : subject,
    said: readResult({ result: approval.result, refusal: why }),
    mayDecide: status === 'WAITING' && requestedBy !== name && mayDo(role, 'finance'),
  };
}
