import { places } from '../../address/places.ts';
import type { Overview } from '../../api/types.ts';
import { useAlertTexts } from '../../catalog/alert-kinds.ts';
import { AlertIcon, ApprovalIcon } from '../../icons/icons.tsx';
import { Notice, Notices } from '../../parts/notices.tsx';
import { countText } from '../../parts/values/money.tsx';
import { Status } from '../../parts/values/status.tsx';
import { useSaidText } from '../../parts/values/use-said-text.ts';
import styles from './overview.module.css';
import { useTexts } from './texts.ts';

/** Shows open alerts and approvals above the figures. Renders nothing if there are none. */
export function Attention({ overview: { alerts, now } }: { readonly overview: Overview }) {
  const t = useTexts();
  const words = useAlertTexts();
  const saidText = useSaidText();
  if (alerts.length === 0 && now.approvalsWaiting === 0) return null;
  return (
    <Notices label={t('alerts')}>
      {now.approvalsWaiting > 0 ? (
        <Notice to={places.approvals()} icon={<ApprovalIcon size={17} />}>
          {t('approvals', { count: now.approvalsWaiting })}
        </Notice>
      ) : null}
      {alerts.slice(0, 3).map(({ kind, severity, subject, detail, detailSaid, lastSeenAt }) => (
        <Notice
          key={`${kind} ${subject}`}
          to={places.alerts({ of: kind, subject })}
          icon={<AlertIcon size={17} />}
          at={lastSeenAt}
        >
          <Status of="severity" value={severity} /> <strong>{words.name(kind)}</strong>{' '}
          <span className={`mono ${styles.subject}`}>{subject}</span> {saidText(detail, detailSaid)}
        </Notice>
      ))}
      {now.openAlerts > 3 ? (
        <Notice to={places.alerts()}>{t('allAlerts', { count: countText(now.openAlerts) })}</Notice>
      ) : null}
    </Notices>
  );
}
