import { Group, Stack, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import type { ReactNode } from 'react';
import styles from './page.module.css';

interface PageProps {
  readonly title: string;
  /** Shown beside the title: a status or a count. */
  readonly aside?: ReactNode;
  /** Shown above the title: a link to the parent page. */
  readonly above?: ReactNode;
  /** Buttons at the right. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

export function Page({ title, aside, above, actions, children }: PageProps) {
  useDocumentTitle(`${title} · Perennial`);
  return (
    <Stack component="article" gap={20} maw={1240} mx="auto">
      <Group component="header" gap="10px 16px" align="flex-end" justify="space-between">
        <div>
          {above ? <div className="small">{above}</div> : null}
          <Title className={styles.title ?? ''}>
            {title} {aside}
          </Title>
        </div>
        {actions ? <div className={styles.actions}>{actions}</div> : null}
      </Group>
      {children}
    </Stack>
  );
}

interface SectionProps {
  readonly title: string;
  readonly hint?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** A part of a page with its own heading. */
export function Section({ title, hint, actions, children }: SectionProps) {
  return (
    <Stack component="section" gap={12} mt={12}>
      <Group component="header" gap="8px 16px" align="flex-end" justify="space-between">
        <div>
          <Title order={2}>{title}</Title>
          {hint ? <Hint>{hint}</Hint> : null}
        </div>
        {actions ? <div className={styles.actions}>{actions}</div> : null}
      </Group>
      {children}
    </Stack>
  );
}

/** A hint that explains fields, rows or a missing button. */
export function Hint({ children }: { readonly children: ReactNode }) {
  return (
    <Text maw="70ch" fz="sm" c="dimmed" textWrap="pretty">
      {children}
    </Text>
  );
}

/** A list of names and values, in columns if there is room. */
export function Facts({ facts }: { readonly facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className={styles.facts}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
