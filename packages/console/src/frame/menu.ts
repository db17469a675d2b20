import type { LinkProps } from '@tanstack/react-router';
import type { Role } from '../api/types.ts';
import { dictionary } from '../i18n/dictionary.ts';
import {
  ApprovalIcon,
  AuditIcon,
  BulkIcon,
  FailedIcon,
  type IconComponent,
  OrderIcon,
  OverviewIcon,
  PeopleIcon,
} from '../icons/icons.tsx';

export const useMenuTexts = dictionary({
  work: ['Subscriptions', '订阅'],
  delivery: ['Delivery', '推送'],
  books: ['Books', '账务'],
  setup: ['Set-up', '配置'],
  team: ['Team', '团队'],
  overview: ['Overview', '总览'],
  orders: ['Orders', '订单'],
  payments: ['Failed payments', '失败支付'],
  bulk: ['Bulk runs', '批量任务'],
  approvals: ['Approvals', '审批'],
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
    text: 'work',
    items: [
      { text: 'orders', to: '/orders', icon: OrderIcon, role: 'viewer', also: ['/users'] },
      { text: 'payments', to: '/payments', icon: FailedIcon, role: 'viewer' },
      { text: 'bulk', to: '/bulk', icon: BulkIcon, role: 'viewer' },
      { text: 'approvals', to: '/approvals', icon: ApprovalIcon, role: 'viewer' },
    ],
  },
  {
    text: 'team',
    items: [
      { text: 'people', to: '/people', icon: PeopleIcon, role: 'viewer' },
      { text: 'audit', to: '/audit', icon: AuditIcon, role: 'viewer' },
    ],
  },
];
