import { Group, Stack, Title } from '@mantine/core';
import { type ReactNode, useRef } from 'react';
import { SidePanel } from './dialog.tsx';

interface SheetProps {
  readonly isOpen: boolean;
  readonly title: ReactNode;
  readonly children: ReactNode;
  onClose(): void;
}

/** Shows one item of a list beside the list, or over the full width of a phone. */
export function Sheet({ isOpen, title, children, onClose }: SheetProps) {
  // Keeps the content while the sheet slides out.
  const last = useRef<{ readonly title: ReactNode; readonly children: ReactNode }>({ title, children });
  if (isOpen) last.current = { title, children };
  return (
    <SidePanel isOpen={isOpen} onClose={onClose} title={last.current.title}>
      <Stack gap={20}>{last.current.children}</Stack>
    </SidePanel>
  );
}

export function SheetPart({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section>
      <Title order={3} mb={8}>
        {title}
      </Title>
      {children}
    </section>
  );
}

export const SheetButtons = ({ children }: { readonly children: ReactNode }) => <Group gap={8}>{children}</Group>;
