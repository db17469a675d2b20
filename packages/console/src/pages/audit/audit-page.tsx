import { Button, Group, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useFilters } from '../../address/filters.ts';
import { api } from '../../api/client.ts';
import type { AuditEntry } from '../../api/types.ts';
import { usePages } from '../../api/use-pages.ts';
import { ApprovalIcon } from '../../icons/icons.tsx';
import { Copyable } from '../../parts/copyable.tsx';
import type { Column } from '../../parts/data-table.tsx';
import { SidePanel } from '../../parts/dialog.tsx';
import { FilterBar, TextFilter } from '../../parts/filter-bar.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { List } from '../../parts/list.tsx';
import { countText } from '../../parts/money.tsx';
import { Facts, Page } from '../../parts/page.tsx';
import { Empty, FormProblem } from '../../parts/states.tsx';
import { Time } from '../../parts/time.tsx';
import { useMayDo } from '../../session/session.ts';
import { useActionText } from './action-words.ts';
import styles from './audit.module.css';
import { detailText } from './detail-text.ts';
import { AUDIT_FILTERS } from './filters.ts';
import { useTexts } from './texts.ts';

export default function AuditPage() {
  const t = useTexts();
  const actionText = useActionText();
  const mayVerify = useMayDo('admin');
  const filters = useFilters(AUDIT_FILTERS);
  const [opened, setOpened] = useState<AuditEntry>();
  const list = usePages('/audit', filters.values, (page) => page.entries);
  const columns: readonly Column<AuditEntry>[] = [
    { id: 'action', header: t('action'), cell: ({ action }) => <span title={action}>{actionText(action)}</span> },
    {
      id: 'subject',
      header: t('subject'),
      cell: ({ subject }) => <Copyable value={subject} />,
    },
    {
      id: 'detail',
      header: t('detail'),
      cell: ({ detail }) => <span className="quiet">{detailText(detail)}</span>,
      grows: true,
      inCard: 'text',
    },
    { id: 'who', header: t('who'), cell: ({ actor }) => actor },
    {
      id: 'from',
      header: t('from'),
      cell: ({ address }) => <span className="quiet figures">{address ?? t('commandLine')}</span>,
      inCard: 'none',
    },
    { id: 'time', header: t('time'), cell: ({ at }) => <Time value={at} />, align: 'end', inCard: 'aside' },
  ];
  return (
    <Page title={t('title')} actions={mayVerify ? <Verification /> : null}>
      <FilterBar filters={filters}>
        <TextFilter label={t('filterWho')} value={filters.values.actor} onChange={(actor) => filters.set({ actor })} />
        <TextFilter
          label={t('filterAction')}
          value={filters.values.action}
          onChange={(action) => filters.set({ action })}
        />
        <TextFilter
          label={t('filterSubject')}
          value={filters.values.subject}
          onChange={(subject) => filters.set({ subject })}
        />
      </FilterBar>
      <List
        list={list}
        caption={t('caption')}
        columns={columns}
        rowKey={({ auditId }) => auditId}
        onOpen={(entry) => setOpened(entry)}
        empty={
          filters.count > 0 ? (
            <Empty isFiltered title={t('emptyFiltered')} hint={t('emptyFilteredHint')} />
          ) : (
            <Empty title={t('empty')} hint={t('emptyHint')} />
          )
        }
      />
      <SidePanel
        isOpen={opened !== undefined}
        onClose={() => setOpened(undefined)}
        title={opened && actionText(opened.action)}
      >
        {opened ? <Entry entry={opened} /> : null}
      </SidePanel>
    </Page>
  );
}

function Entry({ entry }: { readonly entry: AuditEntry }) {
  const t = useTexts();
  return (
    <Stack gap={20}>
      <Facts
        facts={[
          [t('time'), <Time key="time" value={entry.at} as="full" />],
          [t('number'), <Copyable key="number" value={entry.auditId} />],
          [t('action'), <Copyable key="action" value={entry.action} />],
          [t('who'), entry.actor],
          [t('from'), entry.address ?? t('commandLine')],
          [t('subject'), <Copyable key="subject" value={entry.subject} />],
        ]}
      />
      <JsonView value={entry.detail} />
    </Stack>
  );
}

/** Verifies the chain on demand, because it reads every entry. */
function Verification() {
  const t = useTexts();
  const verify = useMutation({ mutationFn: () => api.get('/audit/verify', {}) });
  return (
    <Group gap="8px 14px">
      {verify.data ? (
        <p className={styles.result} role="status" data-broken={verify.data.brokenAt !== null || undefined}>
          {verify.data.brokenAt === null
            ? t('intact', { count: countText(verify.data.entries) })
            : t('broken', { entry: verify.data.brokenAt })}
        </p>
      ) : null}
      <FormProblem error={verify.error} />
      <Button
        variant="default"
        leftSection={<ApprovalIcon size={16} />}
        loading={verify.isPending}
        title={t('verifyHint')}
        onClick={() => verify.mutate()}
      >
        {t('verify')}
      </Button>
    </Group>
  );
}
