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
  /** Set if a click outside must not close the dialog, for content that is shown only once. */
  readonly isKept?: boolean;
  /** Set if the dialog is above other dialogs. */
  readonly isOnTop?: boolean;
}

/** A dialog in the middle of the page. Its content is mounted when it opens, so a form in it begins empty. */
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

/** A panel at the right with the details of one row. */
export function SidePanel({ isOpen, ...props }: SidePanelProps) {
  const isTopmost = useIsTopmost(isOpen, 0);
  return <Drawer {...props} opened={isOpen} closeOnEscape={isTopmost} position="right" size={480} padding="lg" />;
}
