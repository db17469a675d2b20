import { api } from '../api/client.ts';
import type { SearchResult } from '../api/types.ts';
import { dictionary } from '../i18n/dictionary.ts';
import { Tag, type Tone } from '../parts/values/status.tsx';
import { BEIJING, momentOf, timeText } from '../parts/values/time-text.ts';
import styles from './search-box.module.css';

const useTexts = dictionary({
  VALID: ['Valid', '有效'],
  EXPIRED: ['Expired', '已过期'],
  CHANGED: ['Not valid', '无效'],
  INCOMPLETE: ['Incomplete', '不完整'],
  OTHER_HOST: ['Other site', '非本站'],
  NOT_OURS: ['Not ours', '非本平台'],
  order: ['Order {orderNo}', '订单 {orderNo}'],
  noOrder: ['No order of ours', '无对应订单'],
  validHint: ['Ours, and it opens until {time}.', '本平台链接，有效期至 {time}。'],
  expiredHint: [
    'Ours, but expired {time}. Create a fresh link on the order.',
    '本平台链接，已于 {time} 过期，可在订单页重新生成。',
  ],
  changedHint: [
    'A part of the link was changed, or the channel’s secret was reset since. It does not open.',
    '链接内容被改动，或渠道密钥已重置，无法打开。',
  ],
  incompleteHint: ['A part of the link is missing. Ask for the whole link.', '链接不完整，请用户提供完整链接。'],
  otherHostHint: [
    'The link was made here, but {host} is not our address. Warn the user.',
    '链接由本平台生成，但 {host} 不是本平台网址，请提醒用户。',
  ],
  notOursHint: [
    'It was not made by this installation. The user must not enter anything there.',
    '不是本平台生成的链接，请提醒用户不要在该页面填写信息。',
  ],
});

type Check = Awaited<ReturnType<typeof postCheck>>;
const postCheck = (link: string) => api.post('/redemption-links/check', { link });

/** The result of checking a pasted link, in the form of a search result. */
export interface LinkResult extends Omit<SearchResult, 'kind'> {
  readonly kind: 'link';
  readonly check: Check;
}

/** Returns true if the text is probably a redemption link, possibly in a sentence or without `https://`. */
export const isLink = (text: string): boolean => /https?:\/\/|[?&]sig=/i.test(text);

export async function checkLink(link: string) {
  const check = await postCheck(link);
  const { orderNo } = check;
  const result: LinkResult = {
    ...{ kind: 'link', id: 'link', title: '', subtitle: '', status: null, appId: null, matched: 'link' },
    ...{ orderNo, channelUserId: null, check },
  };
  return { results: [result], hasMore: false, isMobileLeftOut: false };
}

const TONES: Readonly<Record<Check['status'], Tone>> = {
  VALID: 'positive',
  EXPIRED: 'waiting',
  CHANGED: 'negative',
  INCOMPLETE: 'waiting',
  OTHER_HOST: 'negative',
  NOT_OURS: 'negative',
};

/** Says whether a link is ours, for which order, and whether it opens. */
export function LinkWords({ result: { check } }: { readonly result: LinkResult }) {
  const t = useTexts();
  const { status, host, orderNo, expiresAt } = check;
  const time = expiresAt === null ? '' : timeText(momentOf(expiresAt), BEIJING);
  const hints: Readonly<Record<Check['status'], string>> = {
    VALID: t('validHint', { time }),
    EXPIRED: t('expiredHint', { time }),
    CHANGED: t('changedHint'),
    INCOMPLETE: t('incompleteHint'),
    OTHER_HOST: t('otherHostHint', { host: host ?? '' }),
    NOT_OURS: t('notOursHint'),
  };
  return (
    <span className={styles.result}>
      <span className={styles.words}>
        <span className={`figures ${styles.title}`}>{orderNo ? t('order', { orderNo }) : t('noOrder')}</span>
        <span className={styles.hint} style={{ whiteSpace: 'normal' }}>
          {hints[status]}
        </span>
      </span>
      <Tag tone={TONES[status]}>{t(status)}</Tag>
    </span>
  );
}
