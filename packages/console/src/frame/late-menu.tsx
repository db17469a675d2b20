import type { Menu, MenuProps } from '@mantine/core';
import { cloneElement, type ReactElement, type ReactNode, useEffect, useRef, useState } from 'react';
import { useLate } from '../parts/use-late.ts';

const loadMenu = () => import('./menu-code.ts');

interface LateMenuProps extends Pick<MenuProps, 'position' | 'width'> {
  readonly button: ReactElement<Record<string, unknown>>;
  children(menu: typeof Menu): ReactNode;
}

/** A menu whose code and content are loaded and mounted when its button is first pressed. */
export function LateMenu({ button, children, ...props }: LateMenuProps) {
  const [isWanted, setWanted] = useState(false);
  const [isOpen, setOpen] = useState(false);
  const target = useRef<HTMLButtonElement>(null);
  const Loaded = useLate(loadMenu, isWanted, () => setWanted(false));
  useEffect(() => {
    if (!Loaded) return;
    // The menu's button replaces the pressed one. The menu returns the focus to it when it closes.
    target.current?.focus({ preventScroll: true });
    setOpen(true);
  }, [Loaded]);
  if (!Loaded) {
    return cloneElement(button, {
      'aria-haspopup': 'menu',
      'aria-expanded': false,
      onClick: () => setWanted(true),
    });
  }
  return (
    <Loaded {...props} opened={isOpen} onChange={setOpen}>
      <Loaded.Target>{cloneElement(button, { ref: target })}</Loaded.Target>
      <Loaded.Dropdown>{children(Loaded)}</Loaded.Dropdown>
    </Loaded>
  );
}
