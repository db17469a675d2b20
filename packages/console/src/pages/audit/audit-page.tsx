import { Box, Button, Group, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useFilters } from '../../address/filters.ts';
import { api } from '../../api/client.ts';
import type { AuditEntry } from '../../api/types.ts';
import { usePages } from '../../api/use-pages.ts';
import { useCommonTexts } from '../../i18n/common.ts';
import { ApprovalIcon } from '../../icons/icons.tsx';
import { SidePanel } from '../../parts/dialogs/dialog.tsx';
import { columnsOf } from '../../parts/lists/columns.tsx';
import { FilterBar, TextFilter } from '../../parts/lists/filter-bar.tsx';
import { List } from '../../parts/lists/list.tsx';
import { EmptyList, filterField } from '../../parts/lists/list-parts.tsx';
import { Facts, Page } from '../../parts/page.tsx';
import { FormProblem } from '../../parts/states.tsx';
import { Copyable } from '../../parts/values/copyable.tsx';
import { JsonView } from '../../parts/values/json-view.tsx';
import { countText } from '../../parts/values/money.tsx';
import { Time } from '../../parts/values/time.tsx';
import { useMayDo } from '../../session/session.ts';
import { useActionText } from './action-words.ts';
import { useAuditFacts } from './audit-facts.ts';
import { AUDIT_FILTERS } from './filters.ts';
import { useTexts } from './texts.ts';

const column = columnsOf<AuditEntry>();
const toChange = ({ action, detail }: AuditEntry) => ({ action, detail: (detail ?? {}) as Record<string, unknown> });

export default function AuditPage() {
  const t = useTexts();
  const common = useCommonTexts();
  const actionText = useActionText();
  const factsOf = useAuditFacts();
  const mayVerify = useMayDo('admin');
  const filters = useFilters(AUDIT_FILTERS);
  const [opened, setOpened] = useState<AuditEntry>();
  const list = usePages('/audit', filters.values, (page) => page.entries);
  const columns = [
    column.of(t('action'), ({ action }) => <span title={action}>{actionText(action)}</span>),
    column.of(t('subject'), ({ subject }) => (
      <Box component="span" display="inline-flex" maw="24ch">
        <Copyable value={subject} />
      </Box>
    )),
    column.words(t('detail'), (entry) =>
      factsOf(toChange(entry))
        .map(([name, value]) => common('named', { name, value }))
        .join(' · '),
    ),
    column.text(t('who'), 'actor'),
    column.of(t('from'), ({ address }) => <span className="quiet figures">{address ?? t('commandLine')}</span>, {
      inCard: 'none',
    }),
    column.time(t('time'), 'at', { inCard: 'aside' }),
  ];
  return (
    <Page title={t('title')} actions={mayVerify ? <Verification /> : null}>
      <FilterBar filters={filters}>
        <TextFilter label={t('who')} {...filterField(filters, 'actor')} />
        <TextFilter label={t('filterAction')} {...filterField(filters, 'action')} />
        <TextFilter label={t('filterSubject')} {...filterField(filters, 'subject')} />
      </FilterBar>
      <List
        list={list}
        caption={t('caption')}
        columns={columns}
        rowKey={({ auditId }) => auditId}
        onOpen={(entry) => setOpened(entry)}
        empty={<EmptyList filters={filters} t={t} hint={t('emptyFilteredHint')} />}
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
  const factsOf = useAuditFacts();
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
      <Facts facts={factsOf(toChange(entry))} />
      <details>
        <summary className="small quiet">{t('raw')}</summary>
        <JsonView value={entry.detail} />
      </details>
    </Stack>
  );
}

/** Verifies the entries since the last verification, when the operator asks for it. */
function Verification() {
  const t = useTexts();
  const verify = useMutation({ mutationFn: () => api.get('/audit/verify', {}) });
  return (
    <Group gap="8px 14px">
      {verify.data ? (
        <Box
          component="p"
          className="small"
          c={verify.data.problem === null ? 'var(--positive)' : 'var(--negative)'}
          role="status"
        >
          {verify.data.problem === null
            ? t('intact', { count: countText(verify.data.entries), time: verify.data.wholeAt ?? '' })
            : t(verify.data.problem, { entry: verify.data.brokenAt ?? '' })}
        </Box>
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
