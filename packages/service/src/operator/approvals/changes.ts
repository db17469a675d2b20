import { randomUUID } from 'node:crypto';
import { alertText } from '../../alerts/alert-wordings.js';
import { raiseAlert } from '../../alerts/alerts-sql.js';
import type { Queryable } from '../../platform/db/database.js';
import { type AuditEntry, findLatestChainNo, findOwnEntries, noteSecondPerson, recordAudit } from '../audit/audit.js';
import { inTransaction, type Operator, type OperatorWithGateways, refusal } from '../operator.js';
import { lockActiveAdmins } from '../people/people-sql.js';
import { mayApprove, ROLES, type Role } from '../people/roles.js';
import { requireName } from '../rules.js';
import { type ChangeEntry, findWaitingChange, insertApproval, type StoredChange } from './approvals-sql.js';
import { hadOtherAdmin, hasOtherDecider, lockChanges } from './changes-sql.js';

export type ChosenInput = Readonly<Record<string, unknown>>;

/** A step that changes only the database, in one transaction. */
export interface ChangeStep<Result> extends Pick<Required<StoredChange>, 'operation' | 'input'> {
  readonly run: (operator: OperatorWithGateways) => Promise<Result>;
  /**
   * Returns input fields whose values the step has chosen. They are stored, so the approved change uses the same
   * values. A secret of the input must be replaced. Runs in the transaction of the trial.
   */
  readonly chosen?: (result: Result, operator: Operator) => ChosenInput | Promise<ChosenInput>;
}

/**
 * Who makes a change. `console`: an operator in the console, for whom the approval is requested. Otherwise a command,
 * which cannot ask a second admin but may give a reason to skip the approval.
 */
export type Asking = 'console' | { readonly withoutApproval: string | undefined };

/** Audit actions that may need a second admin. Each function decides by the detail of the entry. */
const NEEDS_SECOND_ADMIN: Readonly<Record<string, (detail: AuditEntry['detail']) => boolean>> = {
  'person.create': ({ role }) => mayApprove(role),
  'person.reset': ({ role }) => mayApprove(role),
  'person.enable': ({ role }) => mayApprove(role),
  'person.remove-single-sign-on': ({ role }) => mayApprove(role),
  'person.set-role': ({ from, to }) => mayApprove(to) && rankOf(to) > rankOf(from),
  'payment-channel.create': () => true,
  'payment-channel.update': ({ to }) => {
    const { gatewayUrl, commonNumbers } = to as { readonly gatewayUrl?: string; readonly commonNumbers?: boolean };
    return gatewayUrl !== undefined || commonNumbers === true;
  },
  'payment-channel.reset-key': () => true,
  'product.create-version': ({ replacesForChannels }) => replacesForChannels === true,
  'benefit.set-fulfilment': ({ from, to, newKey }) => newKey === true || supplierUrlOf(from) !== supplierUrlOf(to),
  'benefit.set-presentation': leadsElsewhere,
  'channel.create': () => true,
  'channel.reset-credentials': () => true,
  'channel.set-callback': () => true,
  'channel.set-fees': () => true,
  'channel.set-branding': leadsElsewhere,
  'channel.set-frame-origins': addsToList,
  // An empty list allows every address.
  'channel.set-ip-list': ({ from, to }) =>
    (to as string[]).length === 0 || ((from as string[]).length > 0 && addsToList({ from, to })),
  'user.change-mobile': () => true,
  'user.export': () => true,
  'user.erase': () => true,
};

const rankOf = (role: unknown) => ROLES.indexOf(role as Role);

const supplierUrlOf = (side: unknown) => (side as { readonly supplierUrl: string | null }).supplierUrl;

function addsToList({ from, to }: AuditEntry['detail']): boolean {
  return (to as string[]).some((one) => !(from as string[]).includes(one));
}

/** Returns true if a link for users leads to another host than before, or the support contact to somebody else. */
function leadsElsewhere({ from, to }: AuditEntry['detail']): boolean {
  const [before, after] = [from, to] as Readonly<Record<string, string | null>>[];
  return ['useUrl', 'termsUrl', 'shopUrl', 'support'].some((name) => {
    const target = targetOf(after?.[name]);
    return target !== undefined && target !== targetOf(before?.[name]);
  });
}

/** Returns the host of a URL, the domain of an e-mail address, or the digits of a phone number. */
function targetOf(text: string | null | undefined): string | undefined {
  if (!text) return undefined;
  if (URL.canParse(text)) return new URL(text).host;
  return text.includes('@') ? text.slice(text.lastIndexOf('@')).toLowerCase() : text.replaceAll(/[^+\d]/g, '');
}

/** A role whose operators, besides admins, decide requests. */
export type Decider = Exclude<Role, 'viewer'>;

/** Changes that support requests and decides, because support may see mobile numbers. Admins decide all others. */
const OF_SUPPORT = new Set(['user.change-mobile']);

/** Returns the role that decides requests, besides admins. */
export function deciderOf(kind: 'REFUND' | 'BULK' | 'CHANGE', action: string): Decider {
  if (kind !== 'CHANGE') return 'finance';
  return OF_SUPPORT.has(action) ? 'support' : 'admin';
}

const needsSecondAdmin = ({ action, detail }: ChangeEntry) => NEEDS_SECOND_ADMIN[action]?.(detail) ?? false;

/** Thrown to roll the trial run back. `entry` is the audit entry that needs a second admin. */
class SecondAdminNeeded extends Error {
  constructor(
    readonly entry: ChangeEntry,
    readonly entries: readonly ChangeEntry[],
    readonly chosen: ChosenInput,
  ) {
    super('rolled back');
  }
}

/**
 * Makes a change, or requests its approval. In production the first run of the step is a trial: its audit entries show
 * whether a second admin is needed, and show that admin the old and new values. The trial is rolled back if a second
 * admin is needed, otherwise it is committed. If the step refuses, so does this function, and no approval is requested.
 */
export async function makeChange<Result>(
  operator: OperatorWithGateways,
  step: ChangeStep<Result>,
  asking: Asking,
): Promise<Result> {
  if (operator.environment !== 'production') return step.run(operator);
  try {
    return await inTransaction(operator, async (tx, joined) => {
      await lockChanges(tx);
      const before = await findLatestChainNo(tx);
      const by = { ...operator, ...joined };
      const result = await step.run(by);
      const entries = await findOwnEntries(tx, before);
      const needed = entries.find(needsSecondAdmin);
      if (needed) throw new SecondAdminNeeded(needed, entries, (await step.chosen?.(result, by)) ?? {});
      return result;
    });
  } catch (error) {
    if (!(error instanceof SecondAdminNeeded)) throw error;
    return makeAloneOrRequest(operator, step, asking, error);
  }
}

async function makeAloneOrRequest<Result>(
  operator: OperatorWithGateways,
  step: ChangeStep<Result>,
  asking: Asking,
  { entry, entries, chosen }: SecondAdminNeeded,
): Promise<Result> {
  const judged = await inTransaction(operator, async (tx, joined) => {
    await lockChanges(tx);
    const why = await findReasonToSkipApproval(tx, entry, asking);
    if (why) {
      noteSecondPerson(tx, why);
      if ('secondPerson' in why) await raiseNoSecondAdmin(tx, entry, operator);
      return { result: await step.run({ ...operator, ...joined }) };
    }
    if (asking !== 'console') return {};
    const { operation, input } = step;
    return {
      approvalId: await requestChange(tx, operator, { operation, input: { ...input, ...chosen }, entries }, entry),
    };
  });
  if ('result' in judged) return judged.result as Result;
  const { action, subject } = entry;
  if (judged.approvalId === undefined) {
    throw refusal(
      'change-needs-approval',
    )`${action} of ${subject} needs a second admin: request it in the console, or give a reason with --without-approval, which the audit log keeps`;
  }
  throw refusal('change-waits')`approval ${judged.approvalId} waits for another operator; nothing was changed yet`;
}

/** Returns why no second admin is asked, for the audit log. Returns undefined if a second admin must approve. */
async function findReasonToSkipApproval(
  tx: Queryable,
  entry: ChangeEntry,
  asking: Asking,
): Promise<AuditEntry['detail'] | undefined> {
  if (await makesSecondAdmin(tx, entry)) return { secondPerson: 'none: only admin' };
  if (asking === 'console' || asking.withoutApproval === undefined) return undefined;
  return { withoutApproval: requireName('the reason', asking.withoutApproval) };
}

function raiseNoSecondAdmin(tx: Queryable, { action, subject }: ChangeEntry, { actor }: Operator): Promise<void> {
  const sentence = action === 'person.reset' ? 'no-second-admin|reset' : 'no-second-admin';
  return raiseAlert(tx, 'no-second-admin', subject, alertText(sentence, actor));
}

/**
 * Returns true if the change gives a new installation its second admin: it creates or resets the only other admin, who
 * has never signed in, and at most one admin can sign in. Returns false if an admin was disabled or demoted before.
 */
async function makesSecondAdmin(tx: Queryable, { action, subject, detail }: ChangeEntry): Promise<boolean> {
  if (!['person.create', 'person.reset'].includes(action) || detail['role'] !== 'admin') return false;
  const admins = await lockActiveAdmins(tx);
  const others = admins.filter(({ name }) => name !== subject);
  // An admin without a password may have been reset. A second reset would give that account to somebody else.
  if (admins.some(({ name, hasSignedIn }) => name === subject && hasSignedIn)) return false;
  if (others.length > 1 || admins.filter(({ canSignIn }) => canSignIn).length > 1) return false;
  return !(await hadOtherAdmin(tx));
}

/** Stores the request, unless the same request already waits. Returns the approval's number. */
async function requestChange(
  tx: Queryable,
  { actor }: Operator,
  change: StoredChange,
  { action, subject }: ChangeEntry,
): Promise<string> {
  const decider = deciderOf('CHANGE', action);
  if (!(await hasOtherDecider(tx, actor, ['admin', decider]))) {
    if (decider === 'support') {
      throw refusal(
        'second-supporter-needed',
      )`this change needs a second operator of support or an admin, and no other can sign in`;
    }
    throw refusal(
      'second-admin-needed',
    )`this change needs a second admin, and no other admin can sign in; create one first, on the command line if there was one before`;
  }
  const same = await findWaitingChange(tx, actor, JSON.stringify(change));
  if (same) return String(same.approvalId);
  const { approvalId } = await insertApproval(tx, {
    kind: 'CHANGE',
    subject,
    key: randomUUID(),
    amountCent: 0,
    note: action,
    requestedBy: actor,
    change,
  });
  const detail = { approvalId: String(approvalId), about: action };
  await recordAudit(tx, { actor, action: 'approval.request', subject, detail });
  return String(approvalId);
}
