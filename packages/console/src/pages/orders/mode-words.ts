import { dictionary } from '../../i18n/dictionary.ts';

/** Who collects the money. */
export const useModeTexts = dictionary({
  SVC_DEDUCT: ['We debit', '平台代扣'],
  CHANNEL_COLLECT: ['Channel collects', '渠道代收'],
});
