import { ActionIcon, AppShell, Button, Drawer, Group, Kbd, Text } from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { Navigate, Outlet, useLocation } from '@tanstack/react-router';
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { flushSync } from 'react-dom';
import { getConnection, watchConnection } from '../api/connection.ts';
import { dictionary } from '../i18n/dictionary.ts';
import { MenuIcon, SearchIcon } from '../icons/icons.tsx';
import { notifyProblem } from '../parts/notify.ts';
import { ErrorBoundary, Note } from '../parts/states.tsx';
import { useIsPhone } from '../parts/use-is-phone.ts';
import { createKeyKeeper } from '../search/typed-ahead.ts';
import { useSession } from '../session/session.ts';
import { reloadIfFilesAreMissing } from '../stale-build.ts';
import { AccountMenu } from './account-menu.tsx';
import { BeijingClock } from './beijing-clock.tsx';
import { CellMenu } from './cell-menu.tsx';
import { LanguageButton, SchemeMenu } from './display-menus.tsx';
import { IdentityDialog } from './identity-dialog.tsx';
import { SessionExpiredDialog } from './session-expired-dialog.tsx';
import styles from './shell.module.css';
import { Sidebar } from './sidebar.tsx';

const loadSearchBox = () => import('../search/search-box.tsx');

/**
 * The delay before the search is loaded: long enough for the page's own files and first requests to be loaded first.
 */
const SEARCH_LOADS_AFTER_MS = 1_500;

const useTexts = dictionary({
  skip: ['Skip to content', '跳到正文'],
  menu: ['Menu', '菜单'],
  openMenu: ['Open menu', '打开菜单'],
  search: ['Search', '搜索'],
  lost: [
    'No connection to the service. The data may be out of date, and changes cannot be saved.',
    '无法连接服务，当前数据可能不是最新，也无法保存修改。',
  ],
  retry: ['Try again', '重试'],
  searchMissing: ['The search could not be loaded. Reload the page.', '无法加载搜索，请刷新页面。'],
  searchHint: ['Order, payment, refund, user, mobile number, card…', '订单、扣款、退款、用户、手机号、卡尾号…'],
});

const LINE = { borderColor: 'var(--line)' };

/** The frame around every page of a signed-in operator. */
export function Shell() {
  const t = useTexts();
  const [isMenuOpen, menu] = useDisclosure(false);
  const search = useSearchBox();
  // A phone shows the menu only in the drawer.
  const isPhone = useIsPhone();
  const { environment, needsTotp } = useSession();
  const { pathname } = useLocation();
  return (
    <AppShell
      layout="alt"
      header={{ height: 52 }}
      navbar={{ width: 236, breakpoint: 'sm', collapsed: { mobile: true } }}
      padding={{ base: 16, sm: 28 }}
      data-environment={environment}
    >
      <a href="#main" className={styles.skip}>
        {t('skip')}
      </a>
      {isPhone ? null : (
        <AppShell.Navbar bg="var(--ground)" style={LINE}>
          <Sidebar />
        </AppShell.Navbar>
      )}
      <AppShell.Header className={styles.header ?? ''} style={LINE}>
        <Group gap={4} h="100%" px={{ base: 8, sm: 28 }} wrap="nowrap">
          <ActionIcon
            hiddenFrom="sm"
            variant="subtle"
            color="gray"
            size="lg"
            aria-label={t('openMenu')}
            aria-expanded={isMenuOpen}
            onClick={menu.open}
          >
            <MenuIcon />
          </ActionIcon>
          <Button
            variant="default"
            size="xs"
            fw={400}
            c="dimmed"
            justify="flex-start"
            w="min(100%, 400px)"
            styles={{ label: { flex: 1 } }}
            leftSection={<SearchIcon size={16} />}
            rightSection={
              <Kbd size="xs" visibleFrom="sm">
                /
              </Kbd>
            }
            onClick={search.open}
            aria-keyshortcuts="Control+K /"
          >
            <Text span inherit truncate visibleFrom="sm">
              {t('searchHint')}
            </Text>
            <Text span inherit hiddenFrom="sm">
              {t('search')}
            </Text>
          </Button>
          <Group gap={4} ms="auto" wrap="nowrap">
            <CellMenu />
            <BeijingClock />
            <LanguageButton />
            <SchemeMenu />
            <AccountMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <Drawer
        opened={isMenuOpen}
        onClose={menu.close}
        size={270}
        padding={0}
        withCloseButton={false}
        attributes={{ content: { 'aria-label': t('menu') } }}
        styles={{ body: { height: '100dvh', background: 'var(--ground)' } }}
      >
        <Sidebar onOpened={menu.close} />
      </Drawer>
      <AppShell.Main id="main" tabIndex={-1} pb={64} style={{ outline: 'none' }}>
        <ConnectionLost />
        <ErrorBoundary of={pathname}>
          {needsTotp && pathname !== '/account' ? <Navigate to="/account" replace /> : <Outlet />}
        </ErrorBoundary>
      </AppShell.Main>
      {search.Box ? <search.Box onReady={search.onReady} onClose={search.onClose} /> : null}
      <IdentityDialog />
      <SessionExpiredDialog />
    </AppShell>
  );
}

/** Warns that the data may be out of date while the service does not answer. */
function ConnectionLost() {
  const t = useTexts();
  const isConnected = useSyncExternalStore(watchConnection, getConnection);
  const queries = useQueryClient();
  if (isConnected) return null;
  return (
    <Note tone="waiting" role="alert" mb={16}>
      {t('lost')}{' '}
      <Button variant="default" size="compact-sm" onClick={() => void queries.refetchQueries({ type: 'active' })}>
        {t('retry')}
      </Button>
    </Note>
  );
}

/**
 * Loads the search after the page. Buffers the keys typed after the search shortcut until the field has the focus, so
 * that no digit is lost.
 */
function useSearchBox() {
  const t = useTexts();
  const [Box, setBox] = useState<Awaited<ReturnType<typeof loadSearchBox>>['default']>();
  const [keys] = useState(createKeyKeeper);
  const hasField = useRef(false);
  useEffect(() => {
    const waiting = setTimeout(() => void loadSearchBox().catch(() => undefined), SEARCH_LOADS_AFTER_MS);
    return () => clearTimeout(waiting);
  }, []);
  const open = () => {
    if (hasField.current) return;
    let isStillWanted = true;
    keys.begin(() => {
      isStillWanted = false;
    });
    Promise.all([import('@mantine/spotlight'), loadSearchBox()]).then(
      ([{ spotlight }, box]) => {
        if (!isStillWanted) return;
        // Renders the box before it is opened, because its field takes over the buffered keys.
        flushSync(() => setBox(() => box.default));
        spotlight.open();
      },
      () => {
        keys.end();
        notifyProblem(new Error(t('searchMissing')));
        reloadIfFilesAreMissing();
      },
    );
  };
  useHotkeys([
    ['mod+K', open],
    ['/', open],
  ]);
  return {
    Box,
    open,
    onReady() {
      hasField.current = true;
      return keys.end();
    },
    onClose() {
      hasField.current = false;
    },
  };
}
