import { useLanguage } from '../../i18n/language.ts';

/**
 * positive: succeeded; progress: in progress; waiting: needs an action; negative: failed; neutral: over or not begun.
 */
export type Tone = 'positive' | 'progress' | 'waiting' | 'negative' | 'neutral';
type Words = readonly [tone: Tone, en: string, zh: string];

/** The tone and the names of each status, by the kind of record. */
export const STATUSES = {
  order: {
    INITIALIZING: ['progress', 'Starting', '待生效'],
    ACTIVE: ['positive', 'Active', '生效中'],
    UNSUBSCRIBED: ['neutral', 'Unsubscribed', '已退订'],
    COMPLETED: ['neutral', 'Completed', '已完成'],
    TERMINATED: ['negative', 'Terminated', '已终止'],
  },
  payment: {
    WAIT: ['neutral', 'Not due yet', '待扣款'],
    PROCESSING: ['progress', 'Processing', '处理中'],
    SUCCESS: ['positive', 'Paid', '已支付'],
    FAIL_RETRY: ['waiting', 'Failed, retrying', '失败待重试'],
    FAIL: ['negative', 'Failed', '失败'],
    BILLED: ['positive', 'Billed', '已出账'],
    CANCELED: ['neutral', 'Canceled', '已取消'],
    REFUND_PART: ['waiting', 'Partly refunded', '部分退款'],
    REFUND_FULL: ['neutral', 'Refunded', '已退款'],
  },
  agreement: {
    BIND_ING: ['progress', 'Signing', '签约中'],
    BIND_SUCCESS: ['positive', 'Signed', '已签约'],
    BIND_FAIL: ['negative', 'Signing failed', '签约失败'],
    CANCELED: ['neutral', 'Canceled', '已解约'],
    REPLACED: ['neutral', 'Replaced', '已更换'],
  },
  delivery: {
    PENDING: ['progress', 'Pending', '待推送'],
    DELIVERED: ['positive', 'Delivered', '已送达'],
    GIVE_UP: ['negative', 'Given up', '已放弃'],
    NO_CALLBACK: ['neutral', 'No callback address', '无回调地址'],
  },
  debit: {
    STARTED: ['progress', 'No final result yet', '待确认结果'],
    SUCCESS: ['positive', 'Paid', '已支付'],
    FAIL: ['negative', 'Failed', '失败'],
  },
  refund: {
    PROCESSING: ['progress', 'Processing', '处理中'],
    STARTED: ['progress', 'Started', '已发起'],
    SUCCESS: ['positive', 'Refunded', '已退款'],
    FAIL: ['negative', 'Failed', '失败'],
    OUTSIDE: ['neutral', 'Refunded outside the service', '系统外退款'],
    WAITING: ['waiting', 'Needs approval', '待审批'],
  },
  /** The statuses of a refund that was sent. */
  refundLine: {
    STARTED: ['progress', 'No final result yet', '待确认结果'],
    SUCCESS: ['positive', 'Refunded', '已退款'],
    FAIL: ['negative', 'Refused', '被拒绝'],
    OUTSIDE: ['neutral', 'Refunded outside the service', '系统外退款'],
  },
  bulk: {
    PREPARED: ['neutral', 'Prepared', '待启动'],
    WAITING: ['waiting', 'Needs approval', '待审批'],
    RUNNING: ['progress', 'Running', '执行中'],
    PENDING: ['waiting', 'Waiting for results', '等待结果'],
    DONE: ['positive', 'Done', '已完成'],
    CANCELED: ['neutral', 'Canceled', '已取消'],
    DECLINED: ['negative', 'Declined', '已拒绝'],
  },
  item: {
    WAITING: ['neutral', 'Waiting', '等待'],
    PENDING: ['waiting', 'Pending', '处理中'],
    DONE: ['positive', 'Done', '成功'],
    FAILED: ['negative', 'Failed', '失败'],
    SKIPPED: ['neutral', 'Skipped', '跳过'],
  },
  approval: {
    WAITING: ['waiting', 'Waiting', '待审批'],
    APPROVED: ['positive', 'Approved', '已批准'],
    DECLINED: ['negative', 'Declined', '已拒绝'],
    WITHDRAWN: ['neutral', 'Withdrawn', '已撤回'],
    FAILED: ['negative', 'Approved, failed', '批准后执行失败'],
  },
  person: {
    ACTIVE: ['positive', 'Active', '启用'],
    DISABLED: ['neutral', 'Disabled', '停用'],
    LOCKED: ['waiting', 'Locked', '锁定'],
    INVITED: ['progress', 'Invited', '已邀请'],
  },
  channel: {
    ACTIVE: ['positive', 'Active', '启用'],
    SUSPENDED: ['negative', 'Suspended', '停用'],
  },
  severity: {
    critical: ['negative', 'Critical', '严重'],
    warning: ['waiting', 'Warning', '警告'],
    info: ['neutral', 'Info', '提示'],
  },
  month: {
    OPEN: ['progress', 'Open', '未关账'],
    CLOSED: ['neutral', 'Closed', '已关账'],
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Words>>>>;

export type StatusKind = keyof typeof STATUSES;

const wordsOf = (of: StatusKind, value: string): Words =>
  (STATUSES[of] as Readonly<Record<string, Words>>)[value] ?? ['neutral', value, value];

/** Returns a function that names a status. A status that a later release added is named by its code. */
export function useStatusText(): (of: StatusKind, value: string) => string {
  const language = useLanguage();
  return (of, value) => wordsOf(of, value)[language === 'en' ? 1 : 2];
}

/** Returns the statuses of a kind with their names, for a filter. */
export function useStatusChoices(of: StatusKind): { value: string; label: string }[] {
  const language = useLanguage();
  return Object.entries(STATUSES[of]).map(([value, [, en, zh]]) => ({ value, label: language === 'en' ? en : zh }));
}

export function Status({ of, value }: { readonly of: StatusKind; readonly value: string | null | undefined }) {
  const language = useLanguage();
  if (!value) return <span className="quiet">–</span>;
  const [tone, en, zh] = wordsOf(of, value);
  return <Tag tone={tone}>{language === 'en' ? en : zh}</Tag>;
}

const TAG = {
  display: 'inline-flex',
  maxWidth: '100%',
  padding: '0 7px',
  borderRadius: 4,
  fontSize: 'var(--mantine-font-size-xs)',
  fontWeight: 500,
  lineHeight: '20px',
  whiteSpace: 'nowrap',
} as const;

/** A word in its tone's colour, on the tone's background. */
export function Tag({ tone, children }: { readonly tone: Tone; readonly children: React.ReactNode }) {
  return <span style={{ ...TAG, color: `var(--${tone})`, background: `var(--${tone}-soft)` }}>{children}</span>;
}
