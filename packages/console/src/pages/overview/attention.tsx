import { Box } from '@mantine/core';
import type { ReactNode } from 'react';
import { places } from '../../address/places.ts';
import type { Overview } from '../../api/types.ts';
import { useAlertTexts } from '../../catalog/alert-kinds.ts';
import { AlertIcon, ApprovalIcon, ChevronRightIcon } from '../../icons/icons.tsx';
import { countText } from '../../parts/values/money.tsx';
import { PlaceLink } from '../../parts/values/place-link.tsx';
import { Time } from '../../parts/values/time.tsx';
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
    <section className={styles.attention} aria-label={t('alerts')}>
      {now.approvalsWaiting > 0 ? (
        <Notice to={places.approvals()} icon={<ApprovalIcon size={17} />}>
          {t('approvals', { count: now.approvalsWaiting })}
        </Notice>
      ) : null}
      {alerts.slice(0, 3).map(({ kind, subject, detail, detailSaid, lastSeenAt }) => (
        <Notice
          key={`${kind} ${subject}`}
          to={places.alerts({ of: kind, subject })}
          icon={<AlertIcon size={17} />}
          at={lastSeenAt}
        >
          <strong>{words.name(kind)}</strong> <span className={`mono ${styles.subject}`}>{subject}</span>{' '}
          {saidText(detail, detailSaid)}
        </Notice>
      ))}
      {now.openAlerts > 3 ? (
        <Notice to={places.alerts()}>{t('allAlerts', { count: countText(now.openAlerts) })}</Notice>
      ) : null}
    </section>
  );
}

interface NoticeProps {
  readonly to: string;
  readonly icon?: ReactNode;
  readonly at?: string;
  readonly children: ReactNode;
}

function Notice({ to, icon, at, children }: NoticeProps) {
  return (
    <PlaceLink to={to} className={styles.notice}>
      {icon}
      <Box flex={1} miw={0} style={{ overflowWrap: 'anywhere' }}>
        {children}
      </Box>
      {at ? (
        <Box component="span" className="quiet" visibleFrom="sm">
          <Time value={at} as="ago" />
        </Box>
      ) : null}
      <ChevronRightIcon size={15} />
    </PlaceLink>
  );
}
