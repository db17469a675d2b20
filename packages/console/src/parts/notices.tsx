import { Box } from '@mantine/core';
import type { ReactNode } from 'react';
import { ChevronRightIcon } from '../icons/icons.tsx';
import styles from './notices.module.css';
import { PlaceLink } from './values/place-link.tsx';
import { Time } from './values/time.tsx';

/** A frame around lines that need attention. */
export function Notices({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <section className={styles.notices} aria-label={label}>
      {children}
    </section>
  );
}

interface NoticeProps {
  readonly to: string;
  readonly icon?: ReactNode;
  readonly at?: string;
  readonly children: ReactNode;
}

/** A line that links to the page where the matter is dealt with. */
export function Notice({ to, icon, at, children }: NoticeProps) {
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
