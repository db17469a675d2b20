import { SegmentedControl } from '@mantine/core';
import { useFilters } from '../../address/filters.ts';
import type { Alert } from '../../api/types.ts';
import { usePages } from '../../api/use-pages.ts';
import { useAlertTexts } from '../../catalog/alert-kinds.ts';
import { Toggles } from '../../parts/fields/toggles.tsx';
import { columnsOf } from '../../parts/lists/columns.tsx';
import { FilterBar } from '../../parts/lists/filter-bar.tsx';
import { List } from '../../parts/lists/list.tsx';
import { EmptyList, filterToggles } from '../../parts/lists/list-parts.tsx';
import { Page } from '../../parts/page.tsx';
import { Count } from '../../parts/values/money.tsx';
import { Time } from '../../parts/values/time.tsx';
import { useSaidText } from '../../parts/values/use-said-text.ts';
import { useSession } from '../../session/session.ts';
import { AlertSheet, AlertState } from './alert-sheet.tsx';
import { ALERT_LIST_FILTERS } from './filters.ts';
import { useTexts } from './texts.ts';

const column = columnsOf<Alert>();

export default function AlertsPage() {
  const t = useTexts();
  const saidText = useSaidText();
  const kindText = useAlertTexts();
  const { name: ownName } = useSession();
  const filters = useFilters(ALERT_LIST_FILTERS);
  const opened = useFilters(['of', 'subject']);
  const { which, kind, owner } = filters.values;
  const list = usePages(
    '/alerts',
    {
      which,
      kind,
      owner: owner === 'mine' ? ownName : undefined,
      unowned: owner === 'nobody' ? 'true' : undefined,
    },
    (page) => page.alerts,
    { refetchInterval: 15_000 },
  );
  const columns = [
    column.of(t('kind'), (alert) => kindText.name(alert.kind)),
    column.status(t('severity'), 'severity', 'severity'),
    // All alerts of the other list are open.
    ...(which === 'all' ? [column.of(t('status'), (alert) => <AlertState alert={alert} />)] : []),
    column.of(t('subject'), ({ subject }) => <span className="mono">{subject}</span>),
    column.words(t('detail'), ({ detail, detailSaid }) => saidText(detail, detailSaid)),
    column.of(t('owner'), (alert) => alert.owner ?? <span className="quiet">{t('nobody')}</span>),
    column.of(
      t('comments'),
      ({ comments }) => (comments === 0 ? <span className="quiet">–</span> : <Count value={comments} />),
      { align: 'end', inCard: 'none' },
    ),
    column.count(t('seen'), 'seen'),
    column.of(t('lastSeen'), ({ lastSeenAt }) => <Time value={lastSeenAt} as="ago" />, { align: 'end' }),
  ];
  const kinds = list.answer?.kinds ?? [];
  return (
    <Page title={t('title')}>
      <FilterBar filters={filters}>
        <SegmentedControl
          aria-label={t('which')}
          value={which ?? 'open'}
          data={[
            { value: 'open', label: t('open') },
            { value: 'all', label: t('all') },
          ]}
          onChange={(value) => filters.set({ which: value === 'open' ? undefined : value })}
        />
        <SegmentedControl
          aria-label={t('owner')}
          value={owner ?? ''}
          data={[
            { value: '', label: t('everybodys') },
            { value: 'mine', label: t('mine') },
            { value: 'nobody', label: t('nobodys') },
          ]}
          onChange={(value) => filters.set({ owner: value })}
        />
      </FilterBar>
      {kinds.length > 0 ? (
        <Toggles
          label={t('kind')}
          choices={kinds.map((one) => ({ value: one.kind, label: kindText.name(one.kind), count: one.open }))}
          {...filterToggles(filters, 'kind')}
        />
      ) : null}
      <List
        list={list}
        caption={t(which === 'all' ? 'captionAll' : 'caption')}
        columns={columns}
        rowKey={(alert) => `${alert.kind} ${alert.subject}`}
        onOpen={(alert) => opened.set({ of: alert.kind, subject: alert.subject })}
        empty={<EmptyList filters={filters} t={t} />}
      />
      <AlertSheet
        kind={opened.values.of ?? kind}
        subject={opened.values.subject}
        onClose={() => opened.set({ of: undefined, subject: undefined })}
      />
    </Page>
  );
}
