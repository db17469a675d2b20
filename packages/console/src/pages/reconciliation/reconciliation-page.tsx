import { Button, Tabs } from '@mantine/core';
import { useState } from 'react';
import { useFilters } from '../../address/filters.ts';
import { UploadIcon } from '../../icons/icons.tsx';
import { Page } from '../../parts/page.tsx';
import { useMayDo } from '../../session/session.ts';
import { CompareDialog } from './compare-dialog.tsx';
import { Days } from './days.tsx';
import { Differences } from './differences.tsx';
import { useTexts } from './texts.ts';

const NO_FILTERS = { paymentChannelCode: undefined, day: undefined, which: undefined };

/** Compares the institutions' statements with the service's records. */
export default function ReconciliationPage() {
  const t = useTexts();
  const mayCompare = useMayDo('finance');
  const place = useFilters(['view', 'paymentChannelCode', 'day', 'which']);
  const [isAsked, setAsked] = useState(false);
  const view = place.values.view === 'days' ? 'days' : 'differences';
  return (
    <Page
      title={t('title')}
      actions={
        mayCompare ? (
          <Button leftSection={<UploadIcon size={16} />} onClick={() => setAsked(true)}>
            {t('compare')}
          </Button>
        ) : null
      }
    >
      <Tabs
        value={view}
        onChange={(chosen) => place.set({ ...NO_FILTERS, view: chosen === 'days' ? 'days' : undefined })}
        keepMounted={false}
      >
        <Tabs.List aria-label={t('views')}>
          <Tabs.Tab value="differences">{t('differences')}</Tabs.Tab>
          <Tabs.Tab value="days">{t('days')}</Tabs.Tab>
        </Tabs.List>
      </Tabs>
      {view === 'days' ? <Days /> : <Differences />}
      {isAsked ? <CompareDialog onClose={() => setAsked(false)} /> : null}
    </Page>
  );
}
