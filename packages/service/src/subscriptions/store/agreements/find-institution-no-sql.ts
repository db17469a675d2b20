import type { Channel } from '../../../catalog/channels/channel.js';
import { columns, type Queryable, statement } from '../../../platform/db/database.js';
import { unsealInstitutionNo } from './card.js';

const FIND_INSTITUTION_NO = statement({
  name: 'find-institution-no',
  text: `select agreement_id as "agreementId", institution_no as "institutionNo"
             from agreements where agreement_id = $1 and channel_id = $2`,
  parameters: ['bigint', 'bigint'],
  columns: columns({
    agreementId: 'bigint',
    institutionNo: 'text?',
  }),
});

/** Returns the agreement's number at the institution, decrypted. Only for calls to the institution. */
export async function findInstitutionNo(db: Queryable, channel: Channel, agreementId: number): Promise<string> {
  const [row] = await db.query(FIND_INSTITUTION_NO, [agreementId, channel.channelId]);
  if (!row) throw new Error(`there is no agreement ${agreementId}`);
  return unsealInstitutionNo(channel, row);
}
