import { Group } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { Mark } from '../icons/icons.tsx';
import styles from './outside.module.css';
import { LanguageButton, SchemeMenu } from './taste.tsx';

interface OutsideProps {
  readonly title: string;
  readonly badge?: ReactNode;
  readonly children: ReactNode;
}

/** What is around a page of somebody who is not signed in. */
export function Outside({ title, badge, children }: OutsideProps) {
  useDocumentTitle(`${title} · Perennial`);
  return (
    <div className={styles.outside}>
      <Group component="header" gap={4} align="stretch" justify="flex-end" wrap="nowrap" py={10} px={14}>
        <LanguageButton />
        <SchemeMenu />
      </Group>
      <main className={styles.main}>
        <div className={styles.brand}>
          <Mark size={30} />
          <span>Perennial</span>
          {badge}
        </div>
        <div className={styles.card}>
          <h1 className={styles.title}>{title}</h1>
          {children}
        </div>
      </main>
    </div>
  );
}
