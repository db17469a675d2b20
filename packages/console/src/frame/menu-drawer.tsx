import { Drawer } from '@mantine/core';
import { useOpenerFocus } from '../parts/dialogs/opener-focus.ts';
import { Sidebar } from './sidebar.tsx';

interface MenuDrawerProps {
  readonly isOpen: boolean;
  readonly label: string;
  onClose(): void;
}

/** The menu of a phone. */
export default function MenuDrawer({ isOpen, label, onClose }: MenuDrawerProps) {
  useOpenerFocus(isOpen);
  return (
    <Drawer
      opened={isOpen}
      onClose={onClose}
      size={270}
      padding={0}
      withCloseButton={false}
      attributes={{ content: { 'aria-label': label } }}
      styles={{ body: { height: '100dvh', background: 'var(--ground)' } }}
    >
      <Sidebar onOpened={onClose} />
    </Drawer>
  );
}
