import { places } from '../../address/places.ts';
import type { Overview } from '../../api/types.ts';
import { useAlertTexts } from '../../catalog/alert-kinds.ts';
import { useSaidText } from '../../i18n/use-said-text.ts';
import { AlertIcon, ApprovalIcon, ChevronRightIcon } from '../../icons/icons.tsx';
import { countText } from '../../parts/money.tsx';
import { PlaceLink } from '../../parts/place-link.tsx';
import { Time } from '../../parts/time.tsx';
import styles from './overview.module.css';
import { useTexts } from './texts.ts';

/** What somebody has to look at, before any figure. Nothing, on a good day. */
export function Attention({ overview: { alerts, now } }: { readonly overview: Overview }) {
  const t = useTexts();
  const words = useAlertTexts();
  const saidText = useSaidText();
  if (alerts.length === 0 && now.approvalsWaiting === 0) return null;
  return (
    <section className={styles.attention} aria-label={t('alerts')}>
      {now.approvalsWaiting > 0 ? (
        <PlaceLink to={places.approvals()} className={styles.notice}>
          <ApprovalIcon size={17} />
          <span className={styles.noticeText}>{t('approvals', { count: now.approvalsWaiting })}</span>
          <ChevronRightIcon size={15} />
        </PlaceLink>
      ) : null}
      {alerts.slice(0, 3).map(({ kind, subject, detail, detailSaid, lastSeenAt }) => (
        <PlaceLink key={`${kind} ${subject}`} to={places.alerts({ of: kind, subject })} className={styles.notice}>
          <AlertIcon size={17} />
          <span className={styles.noticeText}>
            <strong>{words.name(kind)}</strong> <span className="mono">{subject}</span> {saidText(detail, detailSaid)}
          </span>
          <span className={styles.noticeTime}>
            <Time value={lastSeenAt} as="ago" />
          </span>
          <ChevronRightIcon size={15} />
        </PlaceLink>
      ))}
      {now.openAlerts > 3 ? (
        <PlaceLink to={places.alerts()} className={styles.notice}>
          <span className={styles.noticeText}>{t('allAlerts', { count: countText(now.openAlerts) })}</span>
          <ChevronRightIcon size={15} />
        </PlaceLink>
      ) : null}
    </section>
  );
}
