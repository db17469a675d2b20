import type { Static } from '@perennial/wire';
import type { Queryable } from '../../platform/db/database.js';
import { recordAudit } from '../audit/audit.js';
import { inTransaction, type Operator, type OperatorWithGateways, refusal } from '../operator.js';
import { parsePeriodSubject } from '../orders/refunds/period-subjects.js';
import { readPage } from '../paging.js';
import { mayDo, type Role } from '../people/roles.js';
import { readResult, resultText } from '../result-texts.js';
import { createNotFound, requireName } from '../rules.js';
import type { approvalsQuery, decision } from '../schemas/payments.js';
import {
  type Approval,
  endWaitingRun,
  findApproval,
  findApprovals,
  findUnseenApprovals,
  lockApproval,
  startApprovedRun,
  storeDecision,
  storeSeen,
} from './approvals-sql.js';
import { carryOut } from './carry-out.js';

/** The operator who views approvals. */
interface Onlooker {
  readonly name: string;
  readonly role: Role;
}

/** Returns a page of approvals, latest first. */
export async function listApprovals({ database }: Operator, input: Static<typeof approvalsQuery>, onlooker: Onlooker) {
  const { rows, nextCursor } = await readPage(
    'approvals',
    input,
    [0],
    (after, limit) =>
      input.unseen
        ? findUnseenApprovals(database, onlooker.name, after?.[0], limit)
        : findApprovals(database, input.status, after?.[0], limit),
    ({ approvalId }) => [approvalId],
  );
  return { approvals: rows.map((row) => describeApproval(row, onlooker)), nextCursor };
}

export async function showApproval(
  { database }: Operator,
  { approvalId }: { readonly approvalId: string },
  onlooker: Onlooker,
) {
  const approval = await findApproval(database, parseApprovalId(approvalId));
  if (!approval) throw createNotFound('approval', approvalId);
  return describeApproval(approval, onlooker);
}

type DecideInput = Static<typeof decision> & { readonly approvalId: string };

/**
 * Approves another operator's request and carries it out. Approving a request again changes nothing. If the process
 * dies before the action is done, the engine finishes it.
 */
export async function approve(operator: OperatorWithGateways, input: DecideInput, onlooker: Onlooker) {
  const { approval, changed } = await decide(operator, input, 'APPROVED');
  return { ...describeApproval(await carryOut(operator, approval), onlooker), changed };
}

/** Declines a request. Nothing is carried out. */
export async function decline(operator: Operator, input: DecideInput, onlooker: Onlooker) {
  const { approval, changed } = await decide(operator, input, 'DECLINED');
  return { ...describeApproval(approval, onlooker), changed };
}

/** Withdraws the operator's own request. Nothing is carried out. */
export async function withdraw(operator: Operator, { approvalId }: DecideInput, onlooker: Onlooker) {
  const { approval, changed } = await decide(operator, { approvalId }, 'WITHDRAWN');
  return { ...describeApproval(approval, onlooker), changed };
}

/** Acknowledges that the operator's own request was declined or failed. */
export async function markSeen(operator: Operator, { approvalId }: DecideInput, onlooker: Onlooker) {
  return inTransaction(operator, async (tx) => {
    const approval = await requireLockedApproval(tx, approvalId);
    requireOwn(approval, operator.actor);
    if (!approval.isUnseen) return { ...describeApproval(approval, onlooker), changed: false };
    return { ...describeApproval(await storeSeen(tx, approval.approvalId), onlooker), changed: true };
  });
}

function requireOwn({ requestedBy }: Approval, actor: string): void {
  if (requestedBy !== actor) throw refusal('request-not-yours')`this was requested by ${requestedBy}, not by ${actor}`;
}

const DECIDED_BY = {
  APPROVED: 'approval.approve',
  DECLINED: 'approval.decline',
  WITHDRAWN: 'approval.withdraw',
};
type Decided = keyof typeof DECIDED_BY;

async function decide(operator: Operator, input: DecideInput, status: Decided) {
  const { actor } = operator;
  const note = input.note === undefined ? null : requireName('the note', input.note);
  return inTransaction(operator, async (tx) => {
    const approval = await requireLockedApproval(tx, input.approvalId);
    if (status === 'WITHDRAWN') requireOwn(approval, actor);
    else if (approval.requestedBy === actor) {
      throw refusal('decides-own-request')`${actor} has requested this: another operator must decide`;
    }
    // FAILED includes an approval.
    const isDecidedSo = approval.status === status || (approval.status === 'FAILED' && status === 'APPROVED');
    if (isDecidedSo) return { approval, changed: false };
    if (approval.status !== 'WAITING') {
      throw refusal(
        'approval-decided',
      )`approval ${input.approvalId} is ${approval.status}: it was decided by ${approval.decidedBy}`;
    }
    const result = approval.kind === 'BULK' ? await decideRun(tx, approval, status) : null;
    const decided = await storeDecision(tx, approval.approvalId, status, actor, note, result);
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
      action: DECIDED_BY[status],
      subject: kind === 'REFUND' ? String(parsePeriodSubject(subject)?.orderNo) : `run-${subject}`,
      detail,
    });
    return { approval: decided, changed: true };
  });
}

/** Starts or ends the run in the transaction of the decision, so that nothing remains to be done after the commit. */
async function decideRun(tx: Queryable, { subject }: Approval, status: Decided): Promise<string | null> {
  if (status !== 'APPROVED') {
    await endWaitingRun(tx, Number(subject), status === 'DECLINED' ? 'DECLINED' : 'CANCELED');
    return null;
  }
  if (!(await startApprovedRun(tx, Number(subject))))
    throw refusal('run-not-waiting')`run ${subject} no longer waits for approval`;
  return resultText('run-started', subject);
}

/** Returns the approval number. If the text is not a number, returns 0, which no approval has. */
const parseApprovalId = (text: string): number => (/^[1-9]\d{0,14}$/.test(text) ? Number(text) : 0);

async function requireLockedApproval(tx: Queryable, text: string): Promise<Approval> {
  const approval = await lockApproval(tx, parseApprovalId(text));
  if (!approval) throw createNotFound('approval', text);
  return approval;
}

function describeApproval({ approvalId, key: _, refusal: why, ...approval }: Approval, { name, role }: Onlooker) {
  const { kind, subject, status, requestedBy } = approval;
  const isRefund = kind === 'REFUND';
  return {
    ...approval,
    approvalId: String(approvalId),
    orderNo: isRefund ? String(parsePeriodSubject(subject)?.orderNo) : null,
    runId: isRefund ? null : subject,
    said: readResult({ result: approval.result, refusal: why }),
    mayDecide: status === 'WAITING' && requestedBy !== name && mayDo(role, 'finance'),
    mayWithdraw: status === 'WAITING' && requestedBy === name && mayDo(role, 'finance'),
    isUnseen: approval.isUnseen && requestedBy === name,
  };
}
