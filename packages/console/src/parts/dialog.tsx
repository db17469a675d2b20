import { Drawer, Modal } from '@mantine/core';
import type { ReactNode } from 'react';
import styles from './dialog.module.css';
import { useIsTopmost } from './open-dialogs.ts';
import { useOpenerFocus } from './opener-focus.ts';

interface DialogProps {
  readonly isOpen: boolean;
  readonly title: ReactNode;
  readonly size?: 'sm' | 'md' | 'lg' | 'xl';
  /** Shows what is shown only once: a press beside it does not close it. */
  readonly isKept?: boolean;
  /** Above other dialogs. */
  readonly isOnTop?: boolean;
  onClose(): void;
  readonly children: ReactNode;
}

/** In front of the page, in its middle. What is in it comes and goes with it, so a form in it begins empty. */
export function Dialog({
  isOpen,
  title,
  size = 'md',
  isKept = false,
  isOnTop = false,
  onClose,
  children,
}: DialogProps) {
  useOpenerFocus(isOpen);
  const isTopmost = useIsTopmost(isOpen, isOnTop ? 1 : 0);
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={title}
      size={size}
      closeOnClickOutside={!isKept}
      closeOnEscape={isTopmost}
      zIndex={isOnTop ? 400 : 200}
      classNames={{ title: styles.title ?? '', header: styles.header ?? '' }}
    >
      {children}
    </Modal>
  );
}

interface SidePanelProps {
  readonly isOpen: boolean;
  readonly title: ReactNode;
  onClose(): void;
  readonly children: ReactNode;
}

/** At the right of the page: one row of a list, looked at closely. */
export function SidePanel({ isOpen, title, onClose, children }: SidePanelProps) {
  const isTopmost = useIsTopmost(isOpen, 0);
  return (
    <Drawer
      opened={isOpen}
      onClose={onClose}
      title={title}
      closeOnEscape={isTopmost}
      position="right"
      size={480}
      padding="lg"
      classNames={{ title: styles.title ?? '' }}
    >
      {children}
    </Drawer>
  );
}
