import { Group, SegmentedControl } from '@mantine/core';
import { useFilters } from '../../address/filters.ts';
import type { Alert } from '../../api/types.ts';
import { usePages } from '../../api/use-pages.ts';
import { useAlertTexts } from '../../catalog/alert-kinds.ts';
import { useSaidText } from '../../i18n/use-said-text.ts';
import type { Column } from '../../parts/data-table.tsx';
import { FilterBar } from '../../parts/filter-bar.tsx';
import { List } from '../../parts/list.tsx';
import { Count } from '../../parts/money.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty } from '../../parts/states.tsx';
import { Time } from '../../parts/time.tsx';
import { useSession } from '../../session/session.ts';
import { AlertSheet, AlertState } from './alert-sheet.tsx';
import styles from './alerts.module.css';
import { ALERT_LIST_FILTERS } from './filters.ts';
import { useTexts } from './texts.ts';

/** What a person has to look at: whose it is, since when, and what it is about. */
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
  const columns: readonly Column<Alert>[] = [
    { id: 'kind', header: t('kind'), cell: (alert) => kindText.name(alert.kind) },
    {
      id: 'status',
      header: t('status'),
      cell: (alert) => <AlertState alert={alert} />,
      inCard: 'aside',
    },
    { id: 'subject', header: t('subject'), cell: ({ subject }) => <span className="mono">{subject}</span> },
    {
      id: 'detail',
      header: t('detail'),
      cell: ({ detail, detailSaid }) => <span className="quiet">{saidText(detail, detailSaid)}</span>,
      grows: true,
      inCard: 'text',
    },
    {
      id: 'owner',
      header: t('owner'),
      cell: (alert) => alert.owner ?? <span className="quiet">{t('nobody')}</span>,
    },
    {
      id: 'comments',
      header: t('comments'),
      cell: ({ comments }) => (comments === 0 ? <span className="quiet">–</span> : <Count value={comments} />),
      align: 'end',
      inCard: 'none',
    },
    { id: 'seen', header: t('seen'), cell: ({ seen }) => <Count value={seen} />, align: 'end' },
    { id: 'last', header: t('lastSeen'), cell: ({ lastSeenAt }) => <Time value={lastSeenAt} as="ago" />, align: 'end' },
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
          aria-label={t('whose')}
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
        <Group component="ul" gap={6} align="stretch" aria-label={t('kind')}>
          {kinds.map((one) => (
            <li key={one.kind}>
              <button
                type="button"
                className={styles.kind}
                aria-pressed={kind === one.kind}
                onClick={() => filters.set({ kind: kind === one.kind ? undefined : one.kind })}
              >
                {kindText.name(one.kind)} <span className="figures">{one.open}</span>
              </button>
            </li>
          ))}
        </Group>
      ) : null}
      <List
        list={list}
        caption={t('caption')}
        columns={columns}
        rowKey={(alert) => `${alert.kind} ${alert.subject}`}
        onOpen={(alert) => opened.set({ of: alert.kind, subject: alert.subject })}
        empty={
          filters.count > 0 ? (
            <Empty isFiltered title={t('emptyFiltered')} />
          ) : (
            <Empty title={t('empty')} hint={t('emptyHint')} />
          )
        }
      />
      <AlertSheet
        kind={opened.values.of ?? kind}
        subject={opened.values.subject}
        onClose={() => opened.set({ of: undefined, subject: undefined })}
      />
    </Page>
  );
}
