import { Group, Stack } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import type { ReactNode } from 'react';
import styles from './page.module.css';

interface PageProps {
  readonly title: string;
  /** Beside the title: a status, a count. */
  readonly aside?: ReactNode;
  /** Above the title: where this page hangs. */
  readonly above?: ReactNode;
  /** Buttons at the right. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** A page's heading and what is below it. */
export function Page({ title, aside, above, actions, children }: PageProps) {
  useDocumentTitle(`${title} · Perennial`);
  return (
    <article className={styles.page}>
      <Group component="header" gap="10px 16px" align="flex-end" justify="space-between">
        <div className={styles.heading}>
          {above ? <div className={styles.above}>{above}</div> : null}
          <h1 className={styles.title}>
            {title} {aside}
          </h1>
        </div>
        {actions ? <div className={styles.actions}>{actions}</div> : null}
      </Group>
      {children}
    </article>
  );
}

interface SectionProps {
  readonly title: string;
  readonly hint?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** A part of a page under a heading of its own. */
export function Section({ title, hint, actions, children }: SectionProps) {
  return (
    <Stack component="section" className={styles.section} gap={12}>
      <Group component="header" gap="8px 16px" align="flex-end" justify="space-between">
        <div>
          <h2 className={styles.sectionTitle}>{title}</h2>
          {hint ? <p className={styles.hint}>{hint}</p> : null}
        </div>
        {actions ? <div className={styles.actions}>{actions}</div> : null}
      </Group>
      {children}
    </Stack>
  );
}

/** Names and values, one below the other or in columns where there is room. */
export function Facts({ facts }: { readonly facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className={styles.facts}>
      {facts.map(([name, value]) => (
        <div key={name} className={styles.fact}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
