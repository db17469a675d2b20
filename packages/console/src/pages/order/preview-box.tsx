import { Box, Group, Skeleton, Stack } from '@mantine/core';
import type { Preview } from '../../api/order-types.ts';
import { dictionary } from '../../i18n/dictionary.ts';
import { joinNames, useLanguage } from '../../i18n/language.ts';
import { refusalText } from '../../i18n/refusals.ts';
import {
  AlertIcon,
  ApprovalIcon,
  BenefitIcon,
  EventIcon,
  type IconComponent,
  OrderIcon,
  WalletIcon,
} from '../../icons/icons.tsx';
import { FormProblem, Problem } from '../../parts/states.tsx';
import { countText, moneyText } from '../../parts/values/money.tsx';
import { useMayDo } from '../../session/session.ts';

const useTexts = dictionary({
  refund: [
    '{amount} will be refunded to the user|{count} refunds, {amount} in total',
    '向用户退款 {amount}|退款 {count} 笔，合计 {amount}',
  ],
  outside: [
    '{amount} is recorded as refunded outside the service. No money moves',
    '登记系统外退款 {amount}，不涉及资金',
  ],
  unsubscribes: ['The order is unsubscribed at once', '立即退订订单'],
  notCollected: ['{amount} will no longer be collected', '不再收取 {amount}'],
  noMoney: ['No money moves', '不涉及资金'],
  voided: ['{count} period will be voided|{count} periods will be voided', '作废 {count} 期'],
  revoked: [
    '{count} benefit will be revoked: {names}|{count} benefits will be revoked: {names}',
    '收回权益 {count} 项：{names}',
  ],
  noRevoked: ['No benefit will be revoked', '不收回权益'],
  claimable: [
    'No benefit will be revoked. Unclaimed benefits can still be claimed',
    '不收回权益，未领取的权益仍可领取',
  ],
  events: ['The channel will be notified: {events}', '通知渠道：{events}'],
  noEvents: ['The channel will not be notified', '不通知渠道'],
  approvalOfFinance: ['Finance has to approve the refund first', '退款须由财务人员批准后执行'],
  approval: [
    'Above the limit: another finance operator has to approve the refund first',
    '超过限额，退款须由另一位财务人员批准后执行',
  ],
  waiting: [
    'A request by {name} for {amount} is also waiting and would be refunded in addition',
    '{name} 申请的 {amount} 也在等待审批，将另行退款',
  ],
  loading: ['Loading the preview', '正在加载预览'],
});

interface PreviewBoxProps {
  readonly title: string;
  readonly preview: Preview | undefined;
  readonly error: unknown;
  /** Set if approval was already requested. The hint that the action needs approval is then omitted. */
  readonly isAlreadyAsked?: boolean;
}

/** Shows the effects of an action, as computed by the service. */
export function PreviewBox({ title, preview, error, isAlreadyAsked = false }: PreviewBoxProps) {
  const t = useTexts();
  const language = useLanguage();
  if (error) return <FormProblem error={error} />;
  return (
    <Stack
      component="section"
      gap={8}
      p="12px 14px"
      bd="1px solid var(--line)"
      bdrs={8}
      bg="var(--ground)"
      aria-live="polite"
      aria-busy={!preview}
    >
      <Box component="h3" className="quiet tiny" fw={500} lts={0}>
        {title}
      </Box>
      {!preview ? (
        <Stack gap={7} role="status" aria-label={t('loading')}>
          <Skeleton height={12} width="70%" />
          <Skeleton height={12} width="45%" />
          <Skeleton height={12} width="60%" />
        </Stack>
      ) : preview.refusal === null ? (
        <Lines preview={preview} isAlreadyAsked={isAlreadyAsked} />
      ) : (
        <Problem>{refusalText(preview.refusal, language)}</Problem>
      )}
    </Stack>
  );
}

function Lines({ preview, isAlreadyAsked }: { readonly preview: Preview; readonly isAlreadyAsked: boolean }) {
  const t = useTexts();
  const mayRefund = useMayDo('finance');
  const { refundCent, notCollectedCent, periodsVoided, benefitsRevoked, events, needsApproval, waiting } = preview;
  const { outside, unsubscribes, refunds } = preview;
  const names = joinNames(
    benefitsRevoked.map(({ name, count }) => (count === 1 ? name : `${countText(count)}\u00a0×\u00a0${name}`)),
  );
  const revoked = benefitsRevoked.reduce((sum, { count }) => sum + count, 0);
  const sent = joinNames(events.map(({ eventType, count }) => `${countText(count)}\u00a0×\u00a0${eventType}`));
  const lines: readonly (readonly [IconComponent, words: string | false, look?: 'strong' | 'waiting'])[] = [
    [
      WalletIcon,
      refundCent > 0 && t(outside ? 'outside' : 'refund', { amount: moneyText(refundCent), count: countText(refunds) }),
      'strong',
    ],
    [OrderIcon, unsubscribes && refundCent > 0 && t('unsubscribes')],
    [WalletIcon, notCollectedCent > 0 && t('notCollected', { amount: moneyText(notCollectedCent) }), 'strong'],
    [WalletIcon, refundCent === 0 && notCollectedCent === 0 && t('noMoney')],
    [OrderIcon, periodsVoided > 0 && t('voided', { count: countText(periodsVoided) })],
    [BenefitIcon, names ? t('revoked', { names, count: countText(revoked) }) : t(outside ? 'claimable' : 'noRevoked')],
    [EventIcon, sent ? t('events', { events: sent }) : t('noEvents')],
    ...waiting.map(({ amountCent, requestedBy: name }) => {
      return [AlertIcon, t('waiting', { amount: moneyText(amountCent), name }), 'waiting'] as const;
    }),
    [ApprovalIcon, needsApproval && !isAlreadyAsked && t(mayRefund ? 'approval' : 'approvalOfFinance'), 'waiting'],
  ];
  return (
    <Stack component="ul" className="small" gap={7}>
      {lines.map(([Icon, words, look]) =>
        words ? (
          <Group
            key={words}
            component="li"
            gap={9}
            wrap="nowrap"
            align="flex-start"
            fw={look === 'strong' ? 600 : undefined}
            {...(look === 'waiting' ? WAITING : {})}
          >
            <Box component="span" mt={1} c={look === 'waiting' ? 'inherit' : 'dimmed'}>
              <Icon size={16} />
            </Box>
            <span style={{ overflowWrap: 'anywhere' }}>{words}</span>
          </Group>
        ) : null,
      )}
    </Stack>
  );
}

const WAITING = { mx: -6, p: 6, bdrs: 5, c: 'var(--waiting)', bg: 'var(--waiting-soft)' };
