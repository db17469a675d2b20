import { unsealClaimCode } from '../../../subscriptions/domain/benefits/claim-code.js';
import { formatClaimNo } from '../../../subscriptions/domain/benefits/claim-numbers.js';
import { unsealUserMobile } from '../../../subscriptions/steps/users/login-mobile.js';
import { formatAgreementNo, unsealCard, unsealInstitutionNo } from '../../../subscriptions/store/agreements/card.js';
import { recordAudit } from '../../audit/audit.js';
import { inTransaction, type Operator } from '../../operator.js';
import {
  createNoSuchUser,
  hashUser,
  MAX_ORDERS_OF_USER,
  requireChannelOf,
  requireFewOrders,
  type UserInput,
  userSubject,
} from './find-user.js';
import {
  hasRowsOfUser,
  listOrderNosOfUser,
  READ_OF_ORDERS,
  readAgreementRows,
  readAuditRows,
  readUserRows,
} from './user-data-sql.js';

type Row = Readonly<Record<string, unknown>>;
type Part = keyof typeof READ_OF_ORDERS;

export type UserExport = Awaited<ReturnType<typeof readUserData>>;

/** Writes to the audit log that a user's data is exported. Commit it before the data is read. */
export async function recordExport(operator: Operator, { appId, channelUserId }: UserInput): Promise<UserInput> {
  const user = { appId, channelUserId };
  const channel = await requireChannelOf(operator, appId);
  const { channelId } = channel;
  const subject = userSubject(hashUser(channel, channelUserId));
  await inTransaction(operator, async (tx) => {
    if (!(await hasRowsOfUser(tx, channelId, channelUserId))) throw createNoSuchUser(user);
    requireFewOrders(user, await listOrderNosOfUser(tx, channelId, channelUserId, MAX_ORDERS_OF_USER));
    await recordAudit(tx, { actor: operator.actor, action: 'user.export', subject, detail: { appId } });
  });
  return user;
}

/** Returns everything that is stored about a user, decrypted. Call `recordExport` first. */
export async function readUserData(operator: Operator, { appId, channelUserId }: UserInput) {
  const channel = await requireChannelOf(operator, appId);
  const { channelId } = channel;
  const subject = userSubject(hashUser(channel, channelUserId));
  return inTransaction(operator, async (tx) => {
    await tx.query('set transaction isolation level repeatable read, read only');
    await tx.setStatementLimit(0);
    const orderNos = await listOrderNosOfUser(tx, channelId, channelUserId, MAX_ORDERS_OF_USER);
    requireFewOrders({ appId, channelUserId }, orderNos);
    const [user] = await readUserRows(tx, channelId, channelUserId);
    const agreements = await readAgreementRows(tx, channelId, channelUserId);
    const parts = {} as Record<Part, Row[]>;
    for (const [name, read] of Object.entries(READ_OF_ORDERS) as [Part, (typeof READ_OF_ORDERS)[Part]][]) {
      parts[name] = (await read(tx, orderNos)).map(toCamelRow);
    }
    const agreementNos = agreements.map((one) => formatAgreementNo(Number(one['agreement_id'])));
    const subjects = [...orderNos.map(String), ...agreementNos, subject];
    const { claims, events, ...others } = parts;
    return {
      appId,
      channelUserId,
      mobile: user ? unsealUserMobile(channel, { channelUserId, mobile: String(user['mobile']) }) : null,
      boundAt: user?.['bound_at'] ?? null,
      agreements: agreements.map((row) => {
        const { details, institutionNo, ...agreement } = toCamelRow(row);
        const agreementId = Number(row['agreement_id']);
        return {
          ...agreement,
          ...unsealCard(channel, { agreementId, details: String(details) }),
          institutionNo:
            institutionNo === null
              ? null
              : unsealInstitutionNo(channel, { agreementId, institutionNo: String(institutionNo) }),
        };
      }),
      ...others,
      claims: claims.map(({ code, ...claim }) => ({
        ...claim,
        code: code === null ? null : unsealClaimCode(channel, formatClaimNo(claim as never), String(code)),
      })),
      events: events.map(({ data, ...event }) => ({ ...event, data: JSON.parse(String(data)) })),
      audit: (await readAuditRows(tx, subjects)).map(toCamelRow),
    };
  });
}

/** Converts the names of columns to those of JSON fields: order_no to orderNo. */
const toCamelRow = (row: Row): Row =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  );
