import { Box, Stack } from '@mantine/core';
import { ROLES } from '@perennial/service/roles';
import type { Approval } from '../../api/order-types.ts';
import type { Role } from '../../api/types.ts';
import { useRoleTexts } from '../../i18n/common.ts';
import { dictionary } from '../../i18n/dictionary.ts';
import { joinNames } from '../../i18n/language.ts';
import { Facts } from '../../parts/page.tsx';
import { moneyText } from '../../parts/values/money.tsx';
import { toReadable } from '../../parts/values/readable.ts';
import { useTexts } from './texts.ts';

/** The names of fields in the audit entries of changes that need two admins. Other fields are shown by their key. */
const useFieldTexts = dictionary({
  'channel.resume': ['Status', '状态'],
  'channel.rename': ['Name', '名称'],
  'channel.set-callback': ['Callback address', '回调地址'],
  'channel.set-frame-origins': ['Frame origins', '允许嵌入的来源'],
  'channel.set-ip-list': ['IP allow-list', 'IP 白名单'],
  'channel.set-upcoming-notices': ['Days before a debit', '扣款前天数'],
  'channel.set-voided-period-events': ['Events for voided periods', '作废账期事件'],
  'channel.suspend': ['Status', '状态'],
  'person.enable': ['Status', '状态'],
  'person.set-role': ['Role', '角色'],
  agreements: ['Agreements that stay under a pseudonym', '保留的协议（匿名）'],
  acceptsV1: ['Accepts v1', '接受 v1'],
  accent: ['Accent colour', '主题色'],
  amountCent: ['Price of a period', '每期价格'],
  appId: ['App ID', 'App ID'],
  auditTextsErased: ['Erased texts of audit entries', '删除的审计日志文本'],
  auditTextsKept: ['Audit entries of earlier versions that keep their texts', '仍保留文本的旧版审计日志'],
  answers: ['Encryption of answers', '应答加密方式'],
  bankCodeRequired: ['Bank code required', '须提供银行编码'],
  benefits: ['Benefits', '权益'],
  channelUserId: ['User ID', '用户 ID'],
  commonNumbers: ['Shared agreement numbers', '共用协议号'],
  credentials: ['Secrets', '密钥'],
  debitHours: ['Hours of renewal debits', '续费扣款时段'],
  debitsPerSecond: ['Renewal debits per second', '续费扣款限速'],
  descriptionEn: ['Description in English', '英文说明'],
  descriptionZh: ['Description in Chinese', '中文说明'],
  displayName: ['Name', '名称'],
  eventType: ['Event type', '事件类型'],
  feeBasisPoints: ['Fee, hundredths of a percent', '手续费率（万分之一）'],
  feeFixedCent: ['Fixed fee per debit', '每笔固定手续费'],
  formerCode: ['Former version', '原版本'],
  formerMobile: ['Mobile number now', '现手机号'],
  fromMonth: ['Valid from', '生效月份'],
  gateway: ['Gateway', '接入方式'],
  gatewayUrl: ['Bridge address', '桥接服务地址'],
  iconHash: ['Icon', '图标'],
  logoHash: ['Logo', 'Logo'],
  name: ['Name', '名称'],
  nameEn: ['Name in English', '英文名称'],
  nameZh: ['Name in Chinese', '中文名称'],
  newMobile: ['New mobile number', '新手机号'],
  orders: ['Orders that stay under a pseudonym', '保留的订单（匿名）'],
  overlapHours: ['Former app secret valid, hours', '原应用密钥保留（小时）'],
  period: ['Period length', '账期长度'],
  periodType: ['Period unit', '账期单位'],
  productCode: ['Product', '产品'],
  productName: ['Product name', '产品名称'],
  rateBurst: ['Requests at once', '突发请求数'],
  ratePerSecond: ['Requests per second', '每秒请求数'],
  reason: ['Reason', '原因'],
  replacesForChannels: ['Replaces the former version for channels', '替换渠道的原版本'],
  retryDelays: ['Retries after, seconds', '重试间隔（秒）'],
  role: ['Role', '角色'],
  settlementModes: ['Mode', '结算模式'],
  shareBasisPoints: ['Share of the channel, hundredths of a percent', '渠道分成（万分之一）'],
  shopUrl: ['Shop', '商城'],
  support: ['Support contact', '客服联系方式'],
  supportedBanks: ['Banks', '银行'],
  termsUrl: ['Terms', '服务条款'],
  totalCycles: ['Number of periods', '总期数'],
  useUrl: ['Where to use the code', '兑换码使用地址'],
  version: ['Version', '版本'],
  versionOf: ['First version', '首个版本'],
});

/** The maximum number of entries shown. A replaced product has an entry for each of its channels. */
const MAX_SHOWN = 10;

type Changes = NonNullable<Approval['changes']>;

/**
 * Shows the audit entries of a change, with old and new values. A single entry has no heading, because the title of the
 * approval names it.
 */
export function ChangeList({ changes }: { readonly changes: Changes }) {
  const t = useTexts();
  const valuesOf = useValues();
  return (
    <Stack component="section" gap={12} aria-label={t('changes')}>
      <Box component="h2" fz="0.9375rem" fw={600}>
        {t('changes')}
      </Box>
      {changes.slice(0, MAX_SHOWN).map((change) => (
        <Stack key={`${change.action} ${change.subject}`} gap={6}>
          {changes.length > 1 ? (
            <p className="quiet small">{t(change.action as 'person.create', { subject: change.subject })}</p>
          ) : null}
          <Facts facts={valuesOf(change)} />
        </Stack>
      ))}
      {changes.length > MAX_SHOWN ? (
        <p className="quiet">{t('moreChanges', { count: changes.length - MAX_SHOWN })}</p>
      ) : null}
    </Stack>
  );
}

/** Returns the values of the change that an approval is named after, in one line. */
export function useChangeText(): (approval: Approval) => string {
  const valuesOf = useValues();
  return ({ changes, note }) => {
    const change = changes?.find(({ action }) => action === note);
    return change
      ? valuesOf(change)
          .map((fact) => fact.join(': '))
          .join(' · ')
      : '';
  };
}

/** Returns the fields of an audit entry, each with its value or with the old and the new value. */
function useValues(): (change: Changes[number]) => (readonly [name: string, value: string])[] {
  const fieldText = useFieldTexts() as (field: string) => string;
  const roleText = useRoleTexts();
  const valueText = (field: string, value: unknown) =>
    ROLES.some((role) => role === value) ? roleText(value as Role) : plainText(field, value);
  return ({ action, detail: { from, to, ...rest } }) => {
    const fields = Object.entries(rest).map(([field, value]) => [fieldText(field), valueText(field, value)] as const);
    if (from === undefined && to === undefined) return fields;
    // A single value has no name of its own, so the action names it.
    const [before, after] = [from, to].map((one) => (isRecord(one) ? one : { [action]: one }));
    const changed = Object.keys({ ...before, ...after }).map((field) => {
      const values = [before, after].map((one) => valueText(field, one?.[field]));
      return [fieldText(field), values.join(' → ')] as const;
    });
    return [...fields, ...changed];
  };
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function plainText(field: string, value: unknown): string {
  if (value === null || value === undefined) return '–';
  if (field === 'amountCent' || field === 'feeFixedCent') return moneyText(Number(value));
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) return joinNames(value.map(String)) || '–';
  return typeof value === 'object' ? JSON.stringify(toReadable(value)) : String(value);
}
