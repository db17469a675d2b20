import { Button, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api, saveFile } from '../../api/client.ts';
import type { Approval } from '../../api/order-types.ts';
import { SecretsDialog } from '../../parts/dialogs/secrets-dialog.tsx';
import { notifyDone } from '../../parts/notify.ts';
import { FormProblem } from '../../parts/states.tsx';
import { useTexts } from './texts.ts';

interface CarryOutProps {
  readonly approval: Approval;
  onDecided(approval: Approval): void;
}

/** Lets the requester carry out an approved change. Shows the secrets, which only the answer contains. */
export function CarryOut({ approval, onDecided }: CarryOutProps) {
  const t = useTexts();
  const { approvalId } = approval;
  const [done, setDone] = useState<{ readonly approval: Approval; readonly secrets: object }>();
  const carryOut = useMutation({
    mutationFn: () => api.post('/approvals/{approvalId}/carry-out', { approvalId }),
    onSuccess: (answer) => {
      const { userData, ...others } = answer.secrets;
      if (userData !== undefined) {
        saveFile('user.json', new Blob([userData], { type: 'application/json' }));
        notifyDone(t('exported'));
      }
      if (Object.keys(others).length === 0) onDecided(answer.approval);
      else setDone(answer);
    },
  });
  const close = () => {
    if (!done) return;
    setDone(undefined);
    notifyDone(t('carriedOut'));
    onDecided(done.approval);
  };
  return (
    <Stack gap={12} pt={18} style={{ borderTop: '1px solid var(--line)' }}>
      <p>{t('carryOutHint')}</p>
      <FormProblem error={carryOut.error} />
      <div>
        <Button loading={carryOut.isPending} onClick={() => carryOut.mutate()}>
          {t('carryOut')}
        </Button>
      </div>
      {done ? (
        <SecretsDialog
          title={t('secretsTitle', { approvalId })}
          secrets={Object.entries(done.secrets).map(([name, value]) => [name, t(name as 'setupLink'), String(value)])}
          fileName={`approval-${approvalId}.txt`}
          onClose={close}
        />
      ) : null}
    </Stack>
  );
}
