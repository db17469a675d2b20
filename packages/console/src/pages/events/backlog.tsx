import { queryOptions } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import type { EventChannel } from '../../api/types.ts';
import { now } from '../../clock.ts';
import { shareText } from '../../parts/values/change.tsx';
import { countText } from '../../parts/values/money.tsx';
import { Tag } from '../../parts/values/status.tsx';
import { Time } from '../../parts/values/time.tsx';
import { momentOf } from '../../parts/values/time-text.ts';
import { useTexts } from './texts.ts';

const PATH = '/events/channels';
/** The beginning of the keys of all queries for backlogs. */
export const BACKLOGS_KEY = [PATH];

/** All channels, or one channel with its receiver's latest answer. */
export const backlogsQuery = (appId?: string) =>
  queryOptions({
    queryKey: [PATH, appId ?? ''],
    queryFn: async ({ signal }) => (await api.get(PATH, appId === undefined ? {} : { appId }, signal)).channels,
    refetchInterval: 10_000,
  });

/** The number at which the service stops counting. */
const MAX_COUNTED = 10_000;

export function Counted({ value }: { readonly value: number }) {
  const t = useTexts();
  if (value === 0) return <span className="quiet figures">0</span>;
  const text = countText(value);
  return <span className="figures">{value >= MAX_COUNTED ? t('atLeast', { count: text }) : text}</span>;
}

/** Returns how urgently a channel's deliveries need attention; 0 is not at all. Urgent channels are listed first. */
export function troubleOf(channel: EventChannel): number {
  const { givenUp, paused, withoutAddress } = channel;
  if (givenUp > 0) return 4;
  if (isFailing(channel)) return 3;
  if (paused.length > 0) return 2;
  return withoutAddress > 0 ? 1 : 0;
}

const isFailing = ({ callbackUrls }: EventChannel) => callbackUrls.some(({ failingSince }) => failingSince !== null);

export function DeliveryState({ channel }: { readonly channel: EventChannel }) {
  const t = useTexts();
  const { paused, callbackUrls, waiting } = channel;
  if (paused.includes('*')) return <Tag tone="waiting">{t('paused')}</Tag>;
  if (paused.length > 0) return <Tag tone="waiting">{t('partlyPaused')}</Tag>;
  if (callbackUrls.length === 0) return <Tag tone="neutral">{t('noAddress')}</Tag>;
  if (isFailing(channel)) return <Tag tone="negative">{t('failing')}</Tag>;
  return waiting > 0 ? <Tag tone="progress">{t('delivering')}</Tag> : <Tag tone="positive">{t('upToDate')}</Tag>;
}

export function SuccessRate({ channel: { accepted, failed } }: { readonly channel: EventChannel }) {
  const t = useTexts();
  const pushes = accepted + failed;
  if (pushes === 0) return <span className="quiet">{t('noPushes')}</span>;
  return (
    <span className="figures">
      {shareText(accepted / pushes)} <span className="quiet">{t('ofPushes', { count: countText(pushes) })}</span>
    </span>
  );
}

/** Shows when the next push is planned, or "now" if its time has come. */
export function NextPush({ at }: { readonly at: string | null }) {
  const t = useTexts();
  if (at !== null && momentOf(at).getTime() <= now()) return t('now');
  return <Time value={at} as="ago" />;
}
