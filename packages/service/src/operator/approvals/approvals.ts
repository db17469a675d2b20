import type { Static } from '@perennial/wire';
import type { Queryable, Transaction } from '../../platform/db/database.js';
import { recordAudit } from '../audit/audit.js';
import {
  inTransaction,
  type Operator,
  type OperatorWithClock,
  type OperatorWithGateways,
  refusal,
} from '../operator.js';
import { parsePeriodSubject } from '../orders/refunds/period-subjects.js';
import { readPage } from '../paging.js';
import { NotAllowedError } from '../people/not-allowed.js';
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
  type StoredChange,
  startApprovedRun,
  storeDecision,
  storeSeen,
} from './approvals-sql.js';
import { carryOut, recordApproved } from './carry-out.js';
import { carryOutChange, type FindStep, failChange, StepRefused } from './carry-out-change.js';
import { deciderOf } from './changes.js';
import { findDependentUntil, findMakerAlone } from './changes-sql.js';

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
 * Approves another operator's request and carries it out, except a change with secrets, which its requester carries
 * out. Approving a request again changes nothing. If the process dies before an approved refund is made, the engine
 * makes it.
 */
export async function approve(
  operator: OperatorWithGateways,
  input: DecideInput,
  onlooker: Onlooker,
  findStep: FindStep,
) {
  try {
    const { approval, changed } = await decide(operator, input, 'APPROVED', onlooker, async (tx, joined, decided) => {
      const { kind, change } = decided;
      if (kind !== 'CHANGE' || findStep(change?.operation ?? '').showsSecret) return decided;
      return (await carryOutChange(tx, { ...operator, ...joined }, decided, findStep)).approval;
    });
    return { ...describeApproval(await carryOut(operator, approval), onlooker), changed };
  } catch (error) {
    if (!(error instanceof StepRefused)) throw error;
    const failed = await failChange(operator, parseApprovalId(input.approvalId), error.refused, input.note ?? null);
    return { ...describeApproval(failed, onlooker), changed: true };
  }
}

/**
 * Carries out the operator's own change, which another admin has approved, and returns the secrets that it shows. Only
 * the requester sees them, because an approver with the setup link of a new account could act as two operators.
 */
export async function carryOutOwn(
  operator: OperatorWithGateways,
  { approvalId }: { readonly approvalId: string },
  onlooker: Onlooker,
  findStep: FindStep,
) {
  try {
    const { approval, showSecrets } = await inTransaction(operator, async (tx, joined) => {
      const found = await requireLockedApproval(tx, approvalId);
      requireOwn(found, operator.actor);
      if (!found.isOpen) {
        throw refusal(
          'approval-not-open',
        )`approval ${approvalId} cannot be carried out: it is not approved, was carried out, or was approved more than a day ago`;
      }
      return carryOutChange(tx, { ...operator, ...joined }, found, findStep);
    });
    return { approval: describeApproval(approval, onlooker), secrets: await showSecrets(operator) };
  } catch (error) {
    if (!(error instanceof StepRefused)) throw error;
    const failed = await failChange(operator, parseApprovalId(approvalId), error.refused, null);
    return { approval: describeApproval(failed, onlooker), secrets: {} };
  }
}

/** Declines a request. Nothing is carried out. */
export async function decline(operator: OperatorWithClock, input: DecideInput, onlooker: Onlooker) {
  const { approval, changed } = await decide(operator, input, 'DECLINED', onlooker);
  return { ...describeApproval(approval, onlooker), changed };
}

/** Withdraws the operator's own request. Nothing is carried out. */
export async function withdraw(operator: OperatorWithClock, { approvalId }: DecideInput, onlooker: Onlooker) {
  const { approval, changed } = await decide(operator, { approvalId }, 'WITHDRAWN', onlooker);
  return { ...describeApproval(approval, onlooker), changed };
}

/** Acknowledges the outcome of the operator's own request. */
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

/** Stores a decision, and runs `finish` in the same transaction. */
async function decide(
  operator: OperatorWithClock,
  input: DecideInput,
  status: Decided,
  { role }: Onlooker,
  finish: (tx: Transaction, joined: Operator, approval: Approval) => Promise<Approval> = async (_1, _2, one) => one,
) {
  const { actor } = operator;
  const note = input.note === undefined ? null : requireName('the note', input.note);
  return inTransaction(operator, async (tx, joined) => {
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
    const { kind, subject, amountCent, requestedBy, approvalId } = approval;
    if (status !== 'WITHDRAWN') {
      const decider = deciderOf(kind, approval.note);
      if (!mayDo(role, decider)) {
        if (decider === 'finance')
          throw refusal('finance-decides', NotAllowedError)`only finance can decide about this`;
        if (decider === 'support')
          throw refusal('support-decides', NotAllowedError)`only support can decide about this`;
        throw refusal('admin-decides', NotAllowedError)`only an admin can decide about this change`;
      }
      if (operator.environment === 'production') await requireIndependent(tx, actor, requestedBy);
    }
    const result = await decideKind(operator, tx, approval, status);
    const decided = await storeDecision(tx, approvalId, status, actor, note, result);
    const detail = {
      approvalId: String(approvalId),
      about: kind === 'CHANGE' ? approval.note : subject,
      amountCent: kind === 'CHANGE' ? undefined : amountCent,
      requestedBy,
      note,
      from: approval.status,
      to: status,
    };
    // Comes before the audit entry, because an entry locks the end of the audit log until the transaction ends.
    const finished = await finish(tx, joined, decided);
    await recordAudit(tx, { actor, action: DECIDED_BY[status], subject: auditSubject(approval), detail });
    return { approval: finished, changed: true };
  });
}

function auditSubject({ kind, subject }: Approval): string {
  if (kind === 'CHANGE') return subject;
  return kind === 'REFUND' ? String(parsePeriodSubject(subject)?.orderNo) : `run-${subject}`;
}

/**
 * Throws if one of the two operators has created, reset, promoted or enabled the other's account in the last seven
 * days, or if one operator has done so to both accounts. One person could then control both accounts. Throws however
 * long ago it was, if no second admin has approved an account of support.
 */
async function requireIndependent(tx: Queryable, actor: string, requestedBy: string): Promise<void> {
  const alone = await findMakerAlone(tx, actor, requestedBy);
  if (alone) {
    throw refusal(
      'decides-with-own-account',
    )`${alone.maker} alone has created or last reset ${alone.account}: another operator must decide, or another admin must first reset an account of support`;
  }
  const until = await findDependentUntil(tx, actor, requestedBy);
  if (until === undefined) return;
  throw refusal(
    'decides-for-each-other',
  )`one of ${actor} and ${requestedBy} has created, reset, promoted or enabled the other's account in the last seven days, or one operator both accounts; ${actor} may decide this from ${until}`;
}

async function decideKind(
  operator: OperatorWithClock,
  tx: Queryable,
  approval: Approval,
  status: Decided,
): Promise<string | null> {
  if (approval.kind === 'BULK') return decideRun(tx, approval, status);
  if (approval.outside && status === 'APPROVED') return recordApproved(operator, tx, approval);
  return approval.kind === 'CHANGE' && status === 'APPROVED'
    ? resultText('change-approved', approval.requestedBy)
    : null;
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

/**
 * Returns the audit entries of a change. Entries about a user contain only a hash of the user's id. For operators who
 * may decide, adds the id, the masked numbers and the reason as long as the input is stored.
 */
function describeChanges({ entries, input = {} }: StoredChange, role: Role, decider: Role) {
  const { channelUserId, reason, formerMobile, newMobile } = input;
  if (typeof channelUserId !== 'string' || !mayDo(role, decider)) return entries;
  const mobiles = formerMobile === undefined ? {} : { formerMobile, newMobile };
  return entries.map((entry) => ({ ...entry, detail: { channelUserId, ...entry.detail, ...mobiles, reason } }));
}

function describeApproval(
  { approvalId, key: _, refusal: why, change, isOpen, ...approval }: Approval,
  { name, role }: Onlooker,
) {
  const { kind, subject, status, requestedBy } = approval;
  const decider = deciderOf(kind, approval.note);
  const mayAct = status === 'WAITING' && mayDo(role, decider);
  return {
    ...approval,
    approvalId: String(approvalId),
    orderNo: kind === 'REFUND' ? String(parsePeriodSubject(subject)?.orderNo) : null,
    runId: kind === 'BULK' ? subject : null,
    changes: change && describeChanges(change, role, decider),
    decider,
    said: readResult({ result: approval.result, refusal: why }),
    mayDecide: mayAct && requestedBy !== name,
    mayWithdraw: status === 'WAITING' && requestedBy === name && mayDo(role, ['support', 'finance']),
    mayCarryOut: isOpen && requestedBy === name && mayDo(role, 'admin'),
    isUnseen: approval.isUnseen && requestedBy === name,
  };
}
