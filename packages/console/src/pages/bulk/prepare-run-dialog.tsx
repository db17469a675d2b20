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
  named: ['{count} is chosen.|{count} are chosen.', '已选 {count} 项。'],
  matching: [
    'Everything that matches the filter of the list is meant, also what is not shown.',
    '列表筛选条件下的全部记录，包括未显示的部分。',
  ],
  dryRun: [
    'Nothing happens yet: a dry run finds out how many it are and what they come to. You start it on the next page.',
    '此步不会执行任何操作：试运行仅统计数量与金额，在下一页确认后才会启动。',
  ],
  prepare: ['Dry run', '试运行'],
});

interface PrepareRunDialogProps {
  readonly kind: BulkKind;
  readonly what: Pick<BulkRequest, 'items' | 'filter'>;
  onClose(): void;
}

/** Asks why, makes a dry run, and leads to its page. */
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
