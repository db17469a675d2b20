import { Tabs } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useFilters } from '../../address/filters.ts';
import { Page } from '../../parts/page.tsx';
import { DEBIT_FILTERS } from './filters.ts';
import { SavedViews } from './saved-views.tsx';
import { useTexts } from './texts.ts';

const TABS = ['debits', 'failed', 'refunds'] as const;
type Tab = (typeof TABS)[number];

/** The filters that keep their meaning in another tab. */
const SHARED = ['paymentChannelCode', 'appId', 'productCode', 'from', 'to'] as const;

interface PaymentsFrameProps {
  readonly tab: Tab;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** The page around the lists of payments: its title, its tabs and the saved views. */
export function PaymentsFrame({ tab, actions, children }: PaymentsFrameProps) {
  const t = useTexts();
  const navigate = useNavigate();
  const { values } = useFilters(DEBIT_FILTERS);
  const open = (chosen: string | null) => {
    const isAlike = tab !== 'failed' && chosen !== 'failed';
    const kept = Object.fromEntries(SHARED.map((name) => [name, values[name]]));
    const search = {
      ...kept,
      ...(isAlike && { status: values.status, amountFrom: values.amountFrom, amountTo: values.amountTo }),
      ...(chosen !== 'debits' && { tab: chosen }),
    };
    void navigate({ to: '/payments', search: search as never });
  };
  return (
    <Page
      title={t('title')}
      actions={
        <>
          {actions}
          <SavedViews />
        </>
      }
    >
      <Tabs value={tab} onChange={open}>
        <Tabs.List aria-label={t('title')}>
          {TABS.map((name) => (
            <Tabs.Tab key={name} value={name}>
              {t(name)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
      </Tabs>
      {children}
    </Page>
  );
}
