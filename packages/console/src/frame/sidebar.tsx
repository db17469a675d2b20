import { Group, NavLink, Stack, Text } from '@mantine/core';
import { Link, useLocation } from '@tanstack/react-router';
import { dictionary } from '../i18n/dictionary.ts';
import { Mark } from '../icons/icons.tsx';
import { useSession } from '../session/session.ts';
import { EnvironmentBadge } from './environment-badge.tsx';
import { MENU, useMenuTexts } from './menu.ts';
import styles from './sidebar.module.css';
import { WaitingCount } from './waiting-count.tsx';

const useTexts = dictionary({
  menu: ['Main menu', '主菜单'],
  zone: ['Beijing time, UTC+8', '北京时间（UTC+8）'],
});

export function Sidebar({ onOpened }: { readonly onOpened?: () => void }) {
  const t = useTexts();
  const text = useMenuTexts();
  const { environment, version } = useSession();
  const { pathname } = useLocation();
  const isAt = (to: string) => (to === '/' ? pathname === '/' : pathname === to || pathname.startsWith(`${to}/`));
  return (
    <Stack gap={0} h="100%" px={10} pb={10}>
      <Group gap={9} h={52} px={8} wrap="nowrap">
        <Mark />
        <Text span flex={1} fz="0.9375rem" fw={600}>
          Perennial
        </Text>
        <EnvironmentBadge environment={environment} />
      </Group>
      <nav className={styles.menu} aria-label={t('menu')}>
        {MENU.map(({ text: heading, items }) => (
          <div key={heading ?? 'first'} className={styles.group}>
            {heading ? <p className={styles.heading}>{text(heading)}</p> : null}
            <ul>
              {items.map(({ text: label, to, icon: Icon, also = [], waiting }) => (
                <li key={label}>
                  <NavLink
                    component={Link}
                    to={to}
                    className={styles.item ?? ''}
                    styles={{ label: { fontSize: 'var(--mantine-font-size-md)' } }}
                    label={text(label)}
                    leftSection={<Icon size={17} />}
                    rightSection={waiting ? <WaitingCount of={waiting} /> : null}
                    active={[to, ...also].some(isAt)}
                    aria-current={isAt(to) ? 'page' : undefined}
                    activeProps={{}}
                    {...(onOpened ? { onClick: onOpened } : {})}
                  />
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
      <Text fz="xs" c="dimmed" px={10} pt={8}>
        {t('zone')} · {version}
      </Text>
    </Stack>
  );
}
