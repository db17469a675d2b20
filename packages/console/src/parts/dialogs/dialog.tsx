import { Drawer, Modal } from '@mantine/core';
import type { ReactNode } from 'react';
import { useIsTopmost } from './open-dialogs.ts';
import { useOpenerFocus } from './opener-focus.ts';

interface SidePanelProps {
  readonly isOpen: boolean;
  readonly title: ReactNode;
  onClose(): void;
  readonly children: ReactNode;
}

interface DialogProps extends SidePanelProps {
  readonly size?: 'sm' | 'md' | 'lg' | 'xl';
  /** Shows what is shown only once: a press beside it does not close it. */
  readonly isKept?: boolean;
  /** Above other dialogs. */
  readonly isOnTop?: boolean;
}

/** In front of the page, in its middle. What is in it comes and goes with it, so a form in it begins empty. */
export function Dialog({ isOpen, size = 'md', isKept = false, isOnTop = false, ...props }: DialogProps) {
  useOpenerFocus(isOpen);
  const isTopmost = useIsTopmost(isOpen, isOnTop ? 1 : 0);
  return (
    <Modal
      {...props}
      opened={isOpen}
      size={size}
      closeOnClickOutside={!isKept}
      closeOnEscape={isTopmost}
      zIndex={isOnTop ? 400 : 200}
    />
  );
}

/** At the right of the page: one row of a list, looked at closely. */
export function SidePanel({ isOpen, ...props }: SidePanelProps) {
  const isTopmost = useIsTopmost(isOpen, 0);
  return <Drawer {...props} opened={isOpen} closeOnEscape={isTopmost} position="right" size={480} padding="lg" />;
}
