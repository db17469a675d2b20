import { Group } from '@mantine/core';
import { type ReactNode, useRef } from 'react';
import { SidePanel } from './dialog.tsx';
import styles from './sheet.module.css';

interface SheetProps {
  readonly isOpen: boolean;
  readonly title: ReactNode;
  readonly children: ReactNode;
  onClose(): void;
}

/** One thing of a list, beside the list. On a phone it takes the whole width. */
export function Sheet({ isOpen, title, children, onClose }: SheetProps) {
  // What is shown stays while the sheet moves away.
  const last = useRef<{ readonly title: ReactNode; readonly children: ReactNode }>({ title, children });
  if (isOpen) last.current = { title, children };
  return (
    <SidePanel isOpen={isOpen} onClose={onClose} title={last.current.title}>
      <div className={styles.body}>{last.current.children}</div>
    </SidePanel>
  );
}

export function SheetPart({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section>
      <h3>{title}</h3>
      {children}
    </section>
  );
}

export function SheetButtons({ children }: { readonly children: ReactNode }) {
  return (
    <Group gap={8} align="stretch">
      {children}
    </Group>
  );
}
