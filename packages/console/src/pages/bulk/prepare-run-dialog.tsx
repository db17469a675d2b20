import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { BulkKind, BulkRequest } from '../../api/order-types.ts';
import { newRequestKey } from '../../api/request-key.ts';
import { dictionary } from '../../i18n/dictionary.ts';
import { ReasonDialog } from '../../parts/dialogs/reason-dialog.tsx';
import { countText } from '../../parts/values/money.tsx';
import { useFilterText, useKindHints, useKindTexts } from './words.ts';

const useTexts = dictionary({
  named: ['{count} item selected.|{count} items selected.', '已选 {count} 项。'],
  matching: [
    'All items that match the list’s filters are selected, also those not shown.',
    '已选择符合筛选条件的全部记录，包括未显示的。',
  ],
  dryRun: [
    'Nothing is changed yet. The dry run counts the items and adds up the amounts. You start the run on the next page.',
    '试运行只统计数量与金额，不执行任何操作；在下一页确认后才会启动。',
  ],
  prepare: ['Dry run', '试运行'],
});

interface PrepareRunDialogProps {
  readonly kind: BulkKind;
  readonly what: Pick<BulkRequest, 'items' | 'filter'>;
  onClose(): void;
}

/** Asks for a reason, creates a dry run and opens its page. */
export function PrepareRunDialog({ kind, what, onClose }: PrepareRunDialogProps) {
  const t = useTexts();
  const kindText = useKindTexts();
  const kindHint = useKindHints();
  const filterText = useFilterText();
  const navigate = useNavigate();
  const [key] = useState(newRequestKey);
  return (
    <ReasonDialog
      title={kindText(kind)}
      verb={t('prepare')}
      onClose={onClose}
      onConfirm={async (reason) => {
        const { runId } = await api.post('/bulk', { kind, ...what, reason, key });
        await navigate({ to: '/bulk/$runId', params: { runId } });
      }}
    >
      <p>
        {what.items ? t('named', { count: countText(what.items.length) }) : t('matching')} {kindHint(kind)}
      </p>
      {what.items ? null : <p className="figures">{filterText(what.filter)}</p>}
      <p className="quiet">{t('dryRun')}</p>
    </ReasonDialog>
  );
}
