import type { LinkProps } from '@tanstack/react-router';
import type { Role } from '../api/types.ts';
import { dictionary } from '../i18n/dictionary.ts';
import { AuditIcon, type IconComponent, OverviewIcon, PeopleIcon } from '../icons/icons.tsx';

export const useMenuTexts = dictionary({
  work: ['Subscriptions', '订阅'],
  delivery: ['Delivery', '推送'],
  books: ['Books', '账务'],
  setup: ['Set-up', '配置'],
  team: ['Team', '团队'],
  overview: ['Overview', '总览'],
  people: ['People', '人员'],
  audit: ['Audit log', '审计日志'],
});

type MenuText = Parameters<ReturnType<typeof useMenuTexts>>[0];

interface MenuItem {
  readonly text: MenuText;
  readonly to: NonNullable<LinkProps['to']>;
  readonly icon: IconComponent;
  /** Who may open it; one of several is enough. */
  readonly role: Role | readonly Role[];
  /** Other addresses that belong to it, by their beginning. */
  readonly also?: readonly string[];
}

interface MenuGroup {
  readonly text?: MenuText;
  readonly items: readonly MenuItem[];
}

/** The pages, from what is looked at daily to what is set once. */
export const MENU: readonly MenuGroup[] = [
  { items: [{ text: 'overview', to: '/', icon: OverviewIcon, role: 'viewer' }] },
  {
    text: 'team',
    items: [
      { text: 'people', to: '/people', icon: PeopleIcon, role: 'viewer' },
      { text: 'audit', to: '/audit', icon: AuditIcon, role: 'viewer' },
    ],
  },
];
