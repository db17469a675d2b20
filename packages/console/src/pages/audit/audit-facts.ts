import { ROLES } from '@perennial/service/roles';
import type { Role } from '../../api/types.ts';
import { useAlertTexts } from '../../catalog/alert-kinds.ts';
import { useCommonTexts, useRoleTexts } from '../../i18n/common.ts';
import { dictionary } from '../../i18n/dictionary.ts';
import { joinNames, joinParts } from '../../i18n/language.ts';
import { NOUNS } from '../../i18n/nouns.ts';
import { moneyText } from '../../parts/values/money.tsx';
import { STATUSES, type StatusKind, useStatusText } from '../../parts/values/status.tsx';
import { FILTER_NAMES } from '../bulk/words.ts';
import { useActionText } from './action-words.ts';

/**
 * The names of fields in audit entries. A key with a point is a field of actions on one noun, or an action whose entry
 * has a single value before and after. Other fields are shown by their key.
 */
const useFieldTexts = dictionary({
  ...FILTER_NAMES,
  'alert.set-owner': ['Owner', '负责人'],
  'benefit.set-low-stock': ['Warning threshold', '预警值'],
  'channel.rename': ['Name', '名称'],
  'channel.resume': ['Status', '状态'],
  'channel.set-callback': ['Callback address', '回调地址'],
  'channel.set-frame-origins': ['Frame origins', '允许嵌入的来源'],
  'channel.set-ip-list': ['IP allow-list', 'IP 白名单'],
  'channel.set-upcoming-notices': ['Days before a debit', '扣款前天数'],
  'channel.set-voided-period-events': ['Events for voided periods', '作废账期事件'],
  'channel.suspend': ['Status', '状态'],
  'order.retry': ['Due', '应扣时间'],
  'person.enable': ['Status', '状态'],
  'person.set-role': ['Role', '角色'],
  'product.amountCent': ['Price of a period', '每期价格'],
  'reconciliation.differences': ['Differences', '差异数'],
  'reconciliation.set-owner': ['Owner', '负责人'],
  'settlement.billedCent': ['Billed', '出账'],
  'settlement.collectedCent': ['Collected', '代扣'],
  'settlement.refundedCent': ['Refunded', '退款'],
  'user.agreements': ['Agreements that stay under a pseudonym', '保留的协议（匿名）'],
  'user.orders': ['Orders that stay under a pseudonym', '保留的订单（匿名）'],
  about: ['About', '事项'],
  accent: ['Accent colour', '主题色'],
  acceptsV1: ['Accepts v1', '接受 v1'],
  agreementNo: ['Agreement', '代扣协议'],
  amountCent: NOUNS.amount,
  answers: ['Encryption of answers', '应答加密方式'],
  appId: ['App ID', 'App ID'],
  approvalId: ['Approval', '审批'],
  approvedBy: ['Approved by', '审批人'],
  asked: ['Asked', '已查询'],
  auditTextsErased: ['Erased texts of audit entries', '删除的审计日志文本'],
  auditTextsKept: ['Audit entries of earlier versions that keep their texts', '仍保留文本的旧版审计日志'],
  bankCodeRequired: ['Bank code required', '须提供银行编码'],
  benefits: ['Benefits', '权益'],
  by: ['Signed in with', '登录方式'],
  cell: ['Cell', '单元'],
  channelUserId: ['User ID', '用户 ID'],
  change: ['Change', '变更'],
  claimNo: ['Claim', '领取单'],
  commentNo: ['Comment', '评论'],
  commonNumbers: ['Shared agreement numbers', '共用协议号'],
  credentials: ['Secrets', '密钥'],
  cycles: ['Periods', '期数'],
  day: ['Day', '日期'],
  debitHours: ['Hours of renewal debits', '续费扣款时段'],
  debitsPerSecond: ['Renewal debits per second', '续费扣款限速'],
  descriptionEn: ['Description in English', '英文说明'],
  descriptionZh: ['Description in Chinese', '中文说明'],
  differenceNo: ['Difference', '差异'],
  disabled: ['Disabled operator', '停用的操作员'],
  displayName: ['Name', '名称'],
  done: ['Done', '已完成'],
  entries: ['Entries', '条目数'],
  eventId: ['Event', '事件'],
  eventIds: ['Events', '事件'],
  eventType: ['Event type', '事件类型'],
  expiresAt: ['Valid until', '有效期至'],
  faceValueCent: ['Face value', '面值'],
  failures: ['Failures', '失败次数'],
  feeBasisPoints: ['Fee, hundredths of a percent', '手续费率（万分之一）'],
  feeCent: ['Fees', '手续费'],
  feeFixedCent: ['Fixed fee per debit', '每笔固定手续费'],
  filter: ['Filter', '筛选条件'],
  formerCode: ['Former version', '原版本'],
  formerMobile: ['Mobile number now', '现手机号'],
  fromMonth: ['Valid from', '生效月份'],
  gateway: ['Gateway', '接入方式'],
  gatewayUrl: ['Bridge address', '桥接服务地址'],
  hash: ['Hash', '哈希值'],
  iconHash: ['Icon', '图标'],
  imported: ['Imported', '导入数'],
  issuer: ['Identity provider', '身份提供方'],
  items: ['Items', '条数'],
  keepBenefits: ['Benefits kept', '保留权益'],
  key: ['Idempotency key', '幂等键'],
  keyId: ['Key', '密钥编号'],
  keys: ['Keys', '密钥数'],
  kind: ['Kind', '类型'],
  knownBefore: ['Known before', '此前已有'],
  laterCent: ['Refunded later', '后续退款'],
  left: ['Left', '剩余'],
  lineKind: ['Record', '记录类型'],
  lines: ['Lines', '行数'],
  logoHash: ['Logo', 'Logo'],
  mentioned: ['Mentioned', '提及'],
  name: ['Name', '名称'],
  nameEn: ['Name in English', '英文名称'],
  nameZh: ['Name in Chinese', '中文名称'],
  newKey: ['New key', '更换密钥'],
  newMobile: ['New mobile number', '新手机号'],
  note: ['Note', '说明'],
  noteId: ['Note', '备注'],
  nth: ['Replacement', '换码次数'],
  number: ['Number', '单号'],
  outcomes: ['Outcomes', '结果'],
  overlapHours: ['Former app secret valid, hours', '原应用密钥保留（小时）'],
  payableCent: ['Payable', '应结算'],
  period: ['Period length', '账期长度'],
  periodType: ['Period unit', '账期单位'],
  place: ['Place', '位置'],
  productCode: ['Product', '产品'],
  productName: ['Product name', '产品名称'],
  rateBurst: ['Requests at once', '突发请求数'],
  ratePerSecond: ['Requests per second', '每秒请求数'],
  reason: ['Reason', '原因'],
  refundNo: ['Refund no.', '退款单号'],
  repeated: ['Repeated', '重复'],
  replacesForChannels: ['Replaces the former version for channels', '替换渠道的原版本'],
  replayed: ['Replayed', '重推数'],
  requestedBy: ['Requested by', '申请人'],
  retryDelays: ['Retries after, seconds', '重试间隔（秒）'],
  role: ['Role', '角色'],
  served: ['Claims served', '已补发'],
  settlementModes: ['Mode', '结算模式'],
  shareBasisPoints: ['Share of the channel, hundredths of a percent', '渠道分成（万分之一）'],
  shareCent: ['Share of the channel', '渠道分成'],
  shopUrl: ['Shop', '商城'],
  source: ['Source', '来源'],
  supplierUrl: ['Supplier address', '供应商地址'],
  support: ['Support contact', '客服联系方式'],
  supportedBanks: ['Banks', '银行'],
  termsUrl: ['Terms', '服务条款'],
  tokenEpoch: ['Token generation', '令牌批次'],
  totalCycles: ['Number of periods', '总期数'],
  unsettled: ['No final result yet', '待确认结果'],
  unsubscribed: ['Orders unsubscribed', '退订订单数'],
  url: ['Address', '地址'],
  useUrl: ['Where to use the code', '兑换码使用地址'],
  version: ['Version', '版本'],
  versionOf: ['First version', '首个版本'],
  withdrawn: ['Withdrawn', '停用数'],
  withoutApproval: ['Reason for no approval', '未审批原因'],
});

/** Words for codes that are no statuses. */
const useValueTexts = dictionary({
  true: ['yes', '是'],
  false: ['no', '否'],
  now: ['now', '立即'],
  password: ['password', '密码'],
  'single sign-on': ['single sign-on', '单点登录'],
  sandbox: ['sandbox', '沙箱'],
  bridge: ['bridge', '桥接服务'],
  GATEWAY: ['bridge', '桥接服务'],
  FILE: ['file', '文件'],
  DEBIT: ['debit', '扣款'],
  REFUND: ['refund', '退款'],
  debit: ['debit', '扣款'],
  refund: ['refund', '退款'],
  RETRY: ['retry', '重试扣款'],
  UNSUBSCRIBE: ['unsubscribe', '退订'],
  REPLAY: ['replay', '重推事件'],
  MISSING_HERE: ['only in the statement', '仅对账单有'],
  MISSING_THERE: ['only here', '仅平台有'],
  AMOUNT: ['amount differs', '金额不一致'],
  STATE: ['result differs', '结果不一致'],
  DUPLICATE: ['duplicate in the statement', '对账单重复'],
  OUTSIDE: ['refunded outside', '系统外退款'],
  GENERATED: ['generated', '系统生成'],
  POOL: ['pool', '码池'],
  SUPPLIER: ['supplier', '供应商'],
  SVC_DEDUCT: ['debited by the service', '平台代扣'],
  CHANNEL_COLLECT: ['collected by the channel', '渠道代收'],
  MONTH: ['month', '月'],
  DAY: ['day', '天'],
  appSecret: ['app secret', '应用密钥'],
  aesKey: ['AES key', 'AES 密钥'],
  callbackSecret: ['callback secret', '回调密钥'],
});

/** The fields whose values are codes. Values of other fields are texts of operators, names and numbers. */
const CODED = new Set(
  'about by credentials from gateway kind lineKind outcomes periodType role settlementMode settlementModes source status to'.split(
    ' ',
  ),
);

/** The kind of the statuses in the entries about a noun. */
const STATUS_OF: Readonly<Record<string, StatusKind>> = { debits: 'debit', refunds: 'refundLine' };
const kindOfStatus = (noun: string): StatusKind | undefined =>
  STATUS_OF[noun] ?? (noun in STATUSES ? (noun as StatusKind) : undefined);

interface Entry {
  readonly action: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/**
 * Returns a function that returns the fields of an audit entry as names with values, in words: for a change the old and
 * the new value.
 */
export function useAuditFacts(): (entry: Entry) => (readonly [name: string, value: string])[] {
  const common = useCommonTexts();
  const fieldTexts = useFieldTexts() as (field: string) => string;
  const valueTexts = useValueTexts() as (value: string) => string;
  const roleText = useRoleTexts();
  const statusText = useStatusText();
  const actionText = useActionText();
  const alerts = useAlertTexts();
  return ({ action, detail: { from, to, ...rest } }) => {
    const [noun = ''] = action.split('.');
    const nameOf = (field: string) => {
      const special = `${noun}.${field}`;
      const name = fieldTexts(special);
      return name === special ? fieldTexts(field) : name;
    };
    const codeText = (value: string) => {
      if (ROLES.some((role) => role === value)) return roleText(value as Role);
      const kind = kindOfStatus(noun) ?? 'order';
      const words = [
        statusText(kind, value),
        statusText('payment', value),
        alerts.name(value),
        actionText(value),
        valueTexts(value),
      ];
      return words.find((word) => word !== value) ?? value;
    };
    const textOf = (field: string, value: unknown): string => {
      if (value === null || value === undefined) return '–';
      if (field.endsWith('Cent')) return moneyText(Number(value));
      if (Array.isArray(value)) return joinNames(value.map((one) => textOf(field, one))) || '–';
      if (isRecord(value)) {
        const parts = Object.entries(value).map(([name, one]) =>
          common('named', { name: nameOf(name), value: textOf(name, one) }),
        );
        return `(${joinParts(parts)})`;
      }
      if (typeof value === 'boolean') return valueTexts(String(value));
      return CODED.has(field) ? codeText(String(value)) : String(value);
    };
    const fields = Object.entries(rest).map(([field, value]) => [nameOf(field), textOf(field, value)] as const);
    if (from === undefined && to === undefined) return fields;
    if (!isRecord(from) && !isRecord(to)) {
      const name = fieldTexts(action);
      const other = fieldTexts(kindOfStatus(noun) ? 'status' : 'change');
      return [...fields, [name === action ? other : name, `${textOf('from', from)} → ${textOf('to', to)}`]];
    }
    const [before, after] = [isRecord(from) ? from : {}, isRecord(to) ? to : {}];
    const changed = Object.keys({ ...before, ...after }).map(
      (field) => [nameOf(field), `${textOf(field, before[field])} → ${textOf(field, after[field])}`] as const,
    );
    return [...fields, ...changed];
  };
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
