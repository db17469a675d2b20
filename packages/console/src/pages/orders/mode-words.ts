import { dictionary } from '../../i18n/dictionary.ts';

/** Settlement modes: who collects the money. */
export const useModeTexts = dictionary({
  SVC_DEDUCT: ['Debited by the service', '平台代扣'],
  CHANNEL_COLLECT: ['Collected by the channel', '渠道代收'],
});
