import type { LinkProps } from '@tanstack/react-router';
import type { WaitingCounts } from '../api/types.ts';
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
  HealthIcon,
  type IconComponent,
  InboxIcon,
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
  delivery: ['Operations', '运维'],
  books: ['Accounting', '账务'],
  setup: ['Settings', '配置'],
  team: ['Team', '团队'],
  overview: ['Overview', '总览'],
  orders: ['Orders', '订单'],
  payments: ['Payments', '扣款与退款'],
  bulk: ['Bulk runs', '批量任务'],
  approvals: ['Approvals', '审批'],
  mentions: ['Mentions', '提及我的'],
  events: ['Events', '事件'],
  health: ['Health', '运行状况'],
  requests: ['API requests', '接口调用'],
  alerts: ['Alerts', '告警'],
  reconciliation: ['Reconciliation', '对账'],
  settlement: ['Settlement', '结算'],
  channels: ['Channels', '渠道'],
  products: ['Products', '产品'],
  paymentChannels: ['Payment channels', '支付通道'],
  benefits: ['Benefits', '权益'],
  people: ['Operators', '操作员'],
  audit: ['Audit log', '审计日志'],
});

type MenuText = Parameters<ReturnType<typeof useMenuTexts>>[0];

interface MenuItem {
  readonly text: MenuText;
  readonly to: NonNullable<LinkProps['to']>;
  readonly icon: IconComponent;
  /** Prefixes of other URLs at which this item is marked as current. */
  readonly also?: readonly string[];
  /** The count that is shown beside the item. */
  readonly waiting?: keyof WaitingCounts;
}

interface MenuGroup {
  readonly text?: MenuText;
  readonly items: readonly MenuItem[];
}

/** The menu, from daily work to one-time configuration. Operators of all roles can open all pages. */
export const MENU: readonly MenuGroup[] = [
  { items: [{ text: 'overview', to: '/', icon: OverviewIcon }] },
  {
    text: 'work',
    items: [
      { text: 'orders', to: '/orders', icon: OrderIcon, also: ['/users'] },
      { text: 'payments', to: '/payments', icon: FailedIcon, waiting: 'failedPayments' },
      { text: 'bulk', to: '/bulk', icon: BulkIcon },
      { text: 'approvals', to: '/approvals', icon: ApprovalIcon, waiting: 'approvals' },
      { text: 'mentions', to: '/mentions', icon: InboxIcon, waiting: 'mentions' },
    ],
  },
  {
    text: 'delivery',
    items: [
      { text: 'alerts', to: '/alerts', icon: AlertIcon, waiting: 'alerts' },
      { text: 'health', to: '/health', icon: HealthIcon },
      { text: 'events', to: '/events', icon: EventIcon },
      { text: 'requests', to: '/requests', icon: RequestIcon },
    ],
  },
  {
    text: 'books',
    items: [
      { text: 'reconciliation', to: '/reconciliation', icon: ReconciliationIcon, waiting: 'differences' },
      { text: 'settlement', to: '/settlement', icon: BooksIcon },
    ],
  },
  {
    text: 'setup',
    items: [
      { text: 'channels', to: '/channels', icon: ChannelIcon },
      { text: 'products', to: '/products', icon: ProductIcon },
      { text: 'paymentChannels', to: '/payment-channels', icon: WalletIcon },
      { text: 'benefits', to: '/benefits', icon: BenefitIcon },
    ],
  },
  {
    text: 'team',
    items: [
      { text: 'people', to: '/people', icon: PeopleIcon },
      { text: 'audit', to: '/audit', icon: AuditIcon },
    ],
  },
];
