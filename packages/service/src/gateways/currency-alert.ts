import { alertText } from '../alerts/alert-wordings.js';
import { raiseAlertOnce, resolveAlert } from '../alerts/alerts-sql.js';
import type { Queryable } from '../platform/db/database.js';

/** Returns what stores the currency that the bridge of a payment channel has named: as an alert, or as the end of one. */
export function createCurrencyAlert(
  db: Queryable,
  paymentChannelCode: string,
  ours: string,
): (theirs: string) => Promise<void> {
  return (theirs) =>
    theirs === ours
      ? resolveAlert(db, 'bridge-currency', paymentChannelCode, alertText('bridge-currency|resolved'))
      : raiseAlertOnce(db, 'bridge-currency', paymentChannelCode, alertText('bridge-currency', theirs, ours));
}
