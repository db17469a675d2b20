import { Type } from '@perennial/wire';
import { changed, count, nextCursor, oneOf, paging, said, text, textOrNull, time, timeOrNull } from './parts.js';

export const alertsQuery = Type.Object({
  which: Type.Optional(oneOf('open', 'all')),
  kind: Type.Optional(text(64)),
  owner: Type.Optional(text(64)),
  /** Only unassigned alerts. */
  unowned: Type.Optional(oneOf('true')),
  ...paging,
});
export const severity = oneOf('critical', 'warning', 'info');
export const alert = Type.Object({
  kind: Type.String(),
  severity,
  subject: Type.String(),
  detail: Type.String(),
  detailSaid: said,
  seen: count,
  firstSeenAt: time,
  lastSeenAt: time,
  owner: textOrNull,
  acknowledgedBy: textOrNull,
  acknowledgedAt: timeOrNull,
  resolvedAt: timeOrNull,
  resolvedBecause: textOrNull,
  resolvedSaid: said,
  comments: count,
  /** The order that the alert concerns, if any. */
  orderNo: textOrNull,
});
export const alerts = Type.Object({
  alerts: Type.Array(alert),
  nextCursor,
  /** Open alerts by kind. */
  kinds: Type.Array(Type.Object({ kind: Type.String(), open: count })),
});
/** The kind and the subject, which together identify an alert. */
const named = { kind: text(64), subject: text(200) };
export const alertQuery = Type.Object(named);
export const alertAnswer = Type.Object({
  alert,
  comments: Type.Array(Type.Object({ author: Type.String(), at: time, text: Type.String() })),
  /** The latest messages about the alert, including unsent ones. */
  messages: Type.Array(
    Type.Object({ way: Type.String(), what: Type.String(), writtenAt: time, sentAt: timeOrNull, failure: textOrNull }),
  ),
});
export const acknowledgeRequest = Type.Object(named);
export const ownerRequest = Type.Object({ ...named, owner: Type.OrNull(text(64)) });
export const commentRequest = Type.Object({ ...named, text: text(2000) });
export const alertChanged = Type.Object({ changed });
