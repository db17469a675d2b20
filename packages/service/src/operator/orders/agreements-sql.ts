import type { AgreementStatus } from '@perennial/wire';
import { column, columns, type RowOf } from '../../platform/db/database.js';
import { declareFind, declareRequire, type Query } from '../../platform/db/declared.js';
import { shanghaiText } from '../../platform/db/time-sql.js';

/** An agreement as operators see it: with only the last digits of the card, and without the institution's number. */
export type AgreementView = RowOf<typeof AGREEMENT_VIEW_COLUMNS>;

const AGREEMENT_VIEW_COLUMNS = columns({
  agreementNo: 'text',
  agreementStatus: column<AgreementStatus>('text'),
  agreementSource: 'text',
  channelUserId: 'text',
  paymentChannelCode: 'text',
  bankCode: 'text?',
  bankCardTailNo: 'text',
  createTime: 'text',
  /** True if the institution must still be notified of the agreement's end. */
  cancelPending: 'boolean',
});

/** Returns undefined if the agreement does not exist, or is not bound yet and so has no agreement number. */
export const findAgreement: Query<[agreementId: number], AgreementView | undefined> = declareFind({
  text: `select a.agreement_no as "agreementNo", a.status as "agreementStatus",
       a.source as "agreementSource", a.channel_user_id as "channelUserId",
       a.payment_channel_code as "paymentChannelCode", a.bank_code as "bankCode", a.card_tail as "bankCardTailNo",
       ${shanghaiText('a.created_at')} as "createTime", a.cancel_at is not null as "cancelPending"
     from agreements a where a.agreement_id = $1 and a.agreement_no is not null`,
  parameters: ['bigint'],
  columns: AGREEMENT_VIEW_COLUMNS,
});

/** Returns the number at the institution, encrypted. Null if the user was erased. */
export const requireSealedNumber = declareRequire({
  text: `select agreement_id as "agreementId", channel_id as "channelId", institution_no as "institutionNo"
     from agreements where agreement_id = $1`,
  parameters: ['bigint'],
  columns: columns({ agreementId: 'bigint', channelId: 'bigint', institutionNo: 'text?' }),
});
