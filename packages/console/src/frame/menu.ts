import type { LinkProps } from '@tanstack/react-router';
import type { Role, WaitingCounts } from '../api/types.ts';
import { dictionary } from '../i18n/dictionary.ts';
import {
  AlertIcon,
  ApprovalIcon,
  AuditIcon,
  BenefitIcon,
  BooksIcon,
  BulkIcon,
  ChannelIcon,
  EventIcon,
  FailedIcon,
  type IconComponent,
  OrderIcon,
  OverviewIcon,
  PeopleIcon,
  ProductIcon,
  ReconciliationIcon,
  RequestIcon,
  WalletIcon,
} from '../icons/icons.tsx';

export const useMenuTexts = dictionary({
  work: ['Subscriptions', '订阅'],
  delivery: ['Operations', '运行'],
  books: ['Books', '账务'],
  setup: ['Set-up', '配置'],
  team: ['Team', '团队'],
  overview: ['Overview', '总览'],
  orders: ['Orders', '订单'],
  payments: ['Failed payments', '失败支付'],
  bulk: ['Bulk runs', '批量任务'],
  approvals: ['Approvals', '审批'],
  events: ['Events', '事件'],
  requests: ['API requests', '接口请求'],
  alerts: ['Alerts', '告警'],
  reconciliation: ['Reconciliation', '对账'],
  settlement: ['Settlement', '结算'],
  channels: ['Channels', '渠道'],
  products: ['Products', '产品'],
  paymentChannels: ['Payment channels', '支付通道'],
  benefits: ['Benefits', '权益'],
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
  /** What of it waits for somebody. */
  readonly waiting?: keyof WaitingCounts;
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
      { text: 'payments', to: '/payments', icon: FailedIcon, role: 'viewer', waiting: 'failedPayments' },
      { text: 'bulk', to: '/bulk', icon: BulkIcon, role: 'viewer' },
      { text: 'approvals', to: '/approvals', icon: ApprovalIcon, role: 'viewer', waiting: 'approvals' },
    ],
  },
  {
    text: 'delivery',
    items: [
      { text: 'alerts', to: '/alerts', icon: AlertIcon, role: 'viewer', waiting: 'alerts' },
      { text: 'events', to: '/events', icon: EventIcon, role: 'viewer' },
      { text: 'requests', to: '/requests', icon: RequestIcon, role: 'viewer' },
    ],
  },
  {
    text: 'books',
    items: [
      {
        text: 'reconciliation',
        to: '/reconciliation',
        icon: ReconciliationIcon,
        role: 'viewer',
        waiting: 'differences',
      },
      { text: 'settlement', to: '/settlement', icon: BooksIcon, role: 'viewer' },
    ],
  },
  {
    text: 'setup',
    items: [
      { text: 'channels', to: '/channels', icon: ChannelIcon, role: 'viewer' },
      { text: 'products', to: '/products', icon: ProductIcon, role: 'viewer' },
      { text: 'paymentChannels', to: '/payment-channels', icon: WalletIcon, role: 'viewer' },
      { text: 'benefits', to: '/benefits', icon: BenefitIcon, role: 'viewer' },
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
