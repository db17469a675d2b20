import { Box, Button, Group, Stack } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { Approval } from '../../api/order-types.ts';
import { isRefusal } from '../../i18n/said.ts';
import { NoteField } from '../../parts/fields/note-field.tsx';
import { Figure, known, OrderLink } from '../../parts/lists/list-parts.tsx';
import { notifyDone, notifyProblem } from '../../parts/notify.ts';
import { Facts } from '../../parts/page.tsx';
import { FormProblem, Problem } from '../../parts/states.tsx';
import { moneyText } from '../../parts/values/money.tsx';
import { Status } from '../../parts/values/status.tsx';
import { Time } from '../../parts/values/time.tsx';
import { useSaidText } from '../../parts/values/use-said-text.ts';
import { useMayDo, useSession } from '../../session/session.ts';
import { BulkPreview } from '../bulk/bulk-preview.tsx';
import { PreviewBox } from '../order/preview-box.tsx';
import { CarryOut } from './carry-out.tsx';
import { ChangeList } from './change-list.tsx';
import { useTexts } from './texts.ts';

/** Returns the number of the period. The subject of a refund's approval is `orderNo-cycleNo`. */
const cycleOf = ({ subject }: Approval): string => subject.split('-').at(-1) ?? '';

export function useApprovalTitle(): (approval: Approval) => string {
  const t = useTexts();
  return (approval) => {
    const { kind, runId, subject, note } = approval;
    if (kind === 'REFUND') return t(approval.outside ? 'outside' : 'refund', { cycleNo: cycleOf(approval) });
    // The approval of a change has the action in `note`.
    return kind === 'CHANGE' ? t(note as 'person.create', { subject }) : t('bulk', { runId: runId ?? subject });
  };
}

/** Returns the result of an approval in the page's language. */
export function useResultText(): (approval: Approval) => string {
  const t = useTexts();
  const saidText = useSaidText();
  return ({ result, said, kind, status }) => {
    if (kind === 'REFUND' && status === 'APPROVED' && result !== null) return t('refunded', { refundNo: result });
    const why = saidText(result ?? '', said);
    return isRefusal(said) ? t(kind === 'CHANGE' ? 'changeNotMade' : 'notRefunded', { why }) : why;
  };
}

/** Texts for the requester, and for operators who may not decide. */
const DECIDER_TEXTS = {
  support: ['ownOfSupport', 'notYoursSupport'],
  finance: ['own', 'notYours'],
  admin: ['ownChange', 'notYoursChange'],
} as const;

interface ApprovalViewProps {
  readonly approval: Approval;
  onDecided(approval: Approval): void;
}

/** Shows a request with its requester, reason and effects, and the buttons for operators who may decide. */
export function ApprovalView({ approval, onDecided }: ApprovalViewProps) {
  const t = useTexts();
  const resultText = useResultText();
  const { name } = useSession();
  const { status, orderNo, runId, kind, changes } = approval;
  const isChange = kind === 'CHANGE';
  const mayDecide = useMayDo(approval.decider);
  const [ownText, notYoursText] = DECIDER_TEXTS[approval.decider];
  return (
    <Stack gap={18}>
      <div>
        {isChange ? null : (
          <p>
            <Figure size="1.75rem">{moneyText(approval.amountCent)}</Figure>
          </p>
        )}
        <Status of="approval" value={status} />
      </div>
      <Facts
        facts={known([
          [t('order'), orderNo && <OrderLink key="order" orderNo={orderNo} />],
          [
            t('run'),
            runId && (
              <Link key="run" to="/bulk/$runId" params={{ runId }}>
                {runId}
              </Link>
            ),
          ],
          [t('by'), approval.requestedBy],
          [t('at'), <Time key="at" value={approval.requestedAt} as="full" />],
          [t('decidedBy'), approval.decidedBy],
          [t('decidedAt'), approval.decidedAt && <Time key="decided" value={approval.decidedAt} as="full" />],
        ])}
      />
      <Box style={{ whiteSpace: 'pre-wrap' }}>
        <Facts
          facts={known([
            [t('note'), !isChange && approval.note],
            [t('decisionNote'), approval.decisionNote],
            [t('result'), status !== 'FAILED' && resultText(approval)],
          ])}
        />
      </Box>
      {status === 'FAILED' ? <Problem>{t('notDone', { result: resultText(approval) })}</Problem> : null}
      {changes ? <ChangeList changes={changes} /> : null}
      {status === 'WAITING' && !isChange ? <WhatWouldHappen approval={approval} /> : null}
      {approval.mayCarryOut ? <CarryOut approval={approval} onDecided={onDecided} /> : null}
      {approval.mayDecide ? (
        <Decision approval={approval} onDecided={onDecided} />
      ) : status === 'WAITING' ? (
        <p className="quiet">{t(approval.requestedBy === name && mayDecide ? ownText : notYoursText)}</p>
      ) : null}
      {approval.mayWithdraw ? <OwnStep approval={approval} step="withdraw" onDecided={onDecided} /> : null}
      {approval.isUnseen ? <OwnStep approval={approval} step="seen" onDecided={onDecided} /> : null}
    </Stack>
  );
}

function WhatWouldHappen({ approval }: { readonly approval: Approval }) {
  const t = useTexts();
  const { orderNo, amountCent, approvalId, keepBenefits, outside, runId } = approval;
  const path = '/orders/{orderNo}/periods/{cycleNo}/refund/preview';
  const cycleNo = cycleOf(approval);
  const preview = useQuery({
    queryKey: [path, orderNo, cycleNo, amountCent, approvalId],
    queryFn: ({ signal }) => {
      const options = {
        keepBenefits: keepBenefits ? 'true' : undefined,
        outside: outside ? 'true' : undefined,
      } as const;
      return api.get(path, { orderNo, cycleNo, amountCent, approvalId, ...options }, signal);
    },
    enabled: orderNo !== null,
  });
  if (runId !== null)
    return (
      <>
        <BulkPreview runId={runId} title={t('preview')} />
        <p>{t('bulkPreview')}</p>
      </>
    );
  return <PreviewBox title={t('preview')} preview={preview.data} error={preview.error} isAlreadyAsked />;
}

function Decision({ approval, onDecided }: ApprovalViewProps) {
  const t = useTexts();
  const resultText = useResultText();
  const queries = useQueryClient();
  const [note, setNote] = useState('');
  const decide = useMutation({
    mutationFn: (verb: 'approve' | 'decline') =>
      api.post(`/approvals/{approvalId}/${verb}`, {
        approvalId: approval.approvalId,
        ...(note.trim() ? { note: note.trim() } : {}),
      }),
    onSuccess: (decided) => {
      if (decided.status === 'FAILED') notifyProblem(new Error(t('notDone', { result: resultText(decided) })));
      else notifyDone(decided.status === 'APPROVED' ? t('approved') : t('declined'));
      onDecided(decided);
      void queries.invalidateQueries({ queryKey: ['/overview'] });
    },
  });
  return (
    <Stack gap={12} pt={18} style={{ borderTop: '1px solid var(--line)' }}>
      <NoteField label={t('noteField')} description={t('noteHint')} value={note} onChange={setNote} />
      <FormProblem error={decide.error} />
      <Group gap={8}>
        {(['approve', 'decline'] as const).map((verb) => (
          <Button
            key={verb}
            variant={verb === 'approve' ? 'filled' : 'default'}
            loading={decide.isPending && decide.variables === verb}
            disabled={decide.isPending}
            onClick={() => decide.mutate(verb)}
          >
            {t(verb)}
          </Button>
        ))}
      </Group>
    </Stack>
  );
}

interface OwnStepProps extends ApprovalViewProps {
  readonly step: 'withdraw' | 'seen';
}

/** A button for the requester: withdraws the request, or dismisses its result. */
export function OwnStep({ approval, step, onDecided }: OwnStepProps) {
  const t = useTexts();
  const take = useMutation({
    mutationFn: () => api.post(`/approvals/{approvalId}/${step}`, { approvalId: approval.approvalId }),
    onSuccess: (changed) => {
      if (step === 'withdraw') notifyDone(t('withdrawn'));
      onDecided(changed);
    },
  });
  return (
    <div>
      <FormProblem error={take.error} />
      <Button variant="default" loading={take.isPending} onClick={() => take.mutate()}>
        {t(step)}
      </Button>
    </div>
  );
}
