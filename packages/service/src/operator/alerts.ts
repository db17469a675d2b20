import type { Static } from '@perennial/wire';
import { readAlertText } from '../alerts/alert-wordings.js';
import {
  type AlertKey,
  type AlertView,
  countOpenAlerts,
  findAlert,
  findAlerts,
  type ListedAlert,
  listAlertPage,
  lockAlert,
  type RankedAlert,
  severityOf,
  storeAcknowledgement,
  storeAlertOwner,
} from '../alerts/alerts-sql.js';
import { listAlertComments, storeAlertComment } from '../alerts/comments-sql.js';
import { listMessagesAbout } from '../alerts/messages-sql.js';
import type { Queryable } from '../platform/db/database.js';
import { recordAudit } from './audit/audit.js';
import { type Changed, inTransaction, NotFoundError, type Operator, type OperatorError, refusal } from './operator.js';
import { orderOfAlert, withOrders } from './order-of-number.js';
import { readPage } from './paging.js';
import { requireActivePerson } from './people/owner-sql.js';
import { quoted, requireText } from './rules.js';
import type { alertQuery, alertsQuery, commentRequest, ownerRequest } from './schemas/alerts.js';

const MAX_LISTED = 1000;

/** Returns up to 1000 open alerts, most severe first. With `all`, also returns acknowledged and resolved alerts. */
export async function listAlerts({ database }: Operator, input: { readonly all?: boolean } = {}): Promise<AlertView[]> {
  return findAlerts(database, input.all === true ? 'all' : 'open', MAX_LISTED);
}

/** Returns a page of alerts, the most severe open alerts first, with the number of open alerts of each kind. */
export async function pageAlerts(
  { database }: Operator,
  { which = 'open', kind, owner, unowned, ...page }: Static<typeof alertsQuery> = {},
) {
  const filter = { which, kind: kind ?? null, owner: owner ?? null, isUnowned: unowned === 'true' };
  const { rows, nextCursor } = await readPage<RankedAlert, AlertKey>(
    'alerts',
    page,
    [0, 0, '', ''],
    (after, limit) => listAlertPage(database, filter, after, limit),
    ({ rank, lastSeenMicros, kind: ofKind, subject }) => [rank, lastSeenMicros, ofKind, subject],
  );
  return {
    rows: await addOrders(
      database,
      rows.map(({ rank: _, ...alert }) => alert),
    ),
    nextCursor,
    kinds: await countOpenAlerts(database),
  };
}

type NamedAlert = Static<typeof alertQuery>;

export async function showAlert({ database }: Operator, { kind, subject }: NamedAlert) {
  const found = await findAlert(database, kind, subject);
  if (!found) throw createAlertNotFound({ kind, subject });
  const [alert] = await addOrders(database, [found]);
  if (!alert) throw new Error('an alert that was found is one');
  return {
    alert,
    comments: await listAlertComments(database, kind, subject),
    messages: await listMessagesAbout(database, kind, subject),
  };
}

/** Acknowledges an alert. The list of open alerts does not contain it until its cause occurs again. */
export async function acknowledgeAlert(operator: Operator, { kind, subject }: NamedAlert): Promise<Changed<AlertView>> {
  return inTransaction(operator, async (tx) => {
    const alert = await requireLockedAlert(tx, { kind, subject });
    if (alert.acknowledgedAt !== null) return { ...alert, changed: false };
    const acknowledged = await storeAcknowledgement(tx, kind, subject, operator.actor);
    await recordAudit(tx, { actor: operator.actor, action: 'alert.acknowledge', subject, detail: { kind } });
    return { ...acknowledged, changed: true };
  });
}

/** Assigns an alert to an operator, or to nobody if `owner` is null. */
export async function setAlertOwner(operator: Operator, { kind, subject, owner: asked }: Static<typeof ownerRequest>) {
  return inTransaction(operator, async (tx) => {
    const { owner: from } = await requireLockedAlert(tx, { kind, subject });
    const to = asked === null ? null : await requireActivePerson(tx, asked);
    if (from === to) return { changed: false };
    await storeAlertOwner(tx, kind, subject, to);
    const detail = { kind, from, to };
    await recordAudit(tx, { actor: operator.actor, action: 'alert.set-owner', subject, detail });
    return { changed: true };
  });
}

const MAX_COMMENT_LENGTH = 2000;

/** Stores a comment on an alert. The audit log omits the comment's text, because it may quote a phone call. */
export async function commentOnAlert(
  operator: Operator,
  { kind, subject, text: given }: Static<typeof commentRequest>,
) {
  const text = requireText('the comment', given, MAX_COMMENT_LENGTH);
  return inTransaction(operator, async (tx) => {
    await requireLockedAlert(tx, { kind, subject });
    const commentNo = await storeAlertComment(tx, { kind, subject }, { author: operator.actor, text });
    const detail = { kind, commentNo };
    await recordAudit(tx, { actor: operator.actor, action: 'alert.comment', subject, detail });
    return { changed: true };
  });
}

/** Adds the order that each alert is about, if any, and the codes by which a page translates the alert's texts. */
async function addOrders(db: Queryable, alerts: readonly ListedAlert[]) {
  const rows = alerts.map(({ lastSeenMicros: _, ...alert }) => ({
    ...alert,
    severity: severityOf(alert.kind),
    detailSaid: readAlertText(alert.kind, alert.detail),
    resolvedSaid: readAlertText(alert.kind, alert.resolvedBecause),
  }));
  return withOrders(db, rows, ({ kind, subject }) => orderOfAlert(kind, subject));
}

async function requireLockedAlert(tx: Queryable, named: NamedAlert): Promise<AlertView> {
  const alert = await lockAlert(tx, named.kind, named.subject);
  if (!alert) throw createAlertNotFound(named);
  return alert;
}

function createAlertNotFound({ kind, subject }: NamedAlert): OperatorError {
  return refusal('no-such-alert', NotFoundError)`there is no alert ${quoted(kind)} about ${quoted(subject)}`;
}
