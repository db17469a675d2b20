import { SegmentedControl, Stack } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useFilters } from '../../address/filters.ts';
import { api } from '../../api/client.ts';
import type { CellsOverview } from '../../api/types.ts';
import { useAlertTexts } from '../../catalog/alert-kinds.ts';
import { dictionary } from '../../i18n/dictionary.ts';
import { columnsOf } from '../../parts/lists/columns.tsx';
import { DataTable } from '../../parts/lists/data-table.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { Empty } from '../../parts/states.tsx';
import { Tag } from '../../parts/values/status.tsx';
import { Time } from '../../parts/values/time.tsx';
import { CELLS_FILTERS } from './filters.ts';

const useTexts = dictionary({
  title: ['All cells', '全部单元'],
  range: ['Range', '时间范围'],
  '24h': ['24 hours', '24 小时'],
  '30d': ['30 days', '30 天'],
  '12m': ['12 months', '12 个月'],
  cells: ['Cells', '单元'],
  cellsHint: ['Cells that do not answer are missing from the total.', '无响应的单元不计入合计。'],
  cell: ['Cell', '单元'],
  total: ['Total', '合计'],
  state: ['State', '状态'],
  reachable: ['Reachable', '正常'],
  unreachable: ['No answer', '无响应'],
  refused: ['Refused', '拒绝访问'],
  activeOrders: ['Active orders', '生效订单'],
  ordersCreated: ['New orders', '新增订单'],
  volume: ['Gross volume', '交易总额'],
  refunded: ['Refunded', '退款'],
  debitsFailed: ['Failed debits', '扣款失败'],
  eventsWaiting: ['Events waiting', '待推送事件'],
  openAlerts: ['Open alerts', '未处理告警'],
  alerts: ['Open alerts', '未处理告警'],
  noAlerts: ['No open alerts', '没有未处理的告警'],
  kind: ['Alert', '告警'],
  severity: ['Severity', '级别'],
  subject: ['Subject', '对象'],
  lastSeen: ['Last seen', '最近发生'],
});

const RANGES = ['24h', '30d', '12m'] as const;

/** Shows the figures and alerts of all cells, added up. Nothing can be changed here: each cell has its own console. */
export default function CellsPage() {
  const t = useTexts();
  const filters = useFilters(CELLS_FILTERS);
  const { range = '24h' } = filters.values;
  const found = useQuery({
    queryKey: ['/cells', range],
    queryFn: ({ signal }) => api.get('/cells', { range }, signal),
    refetchInterval: 60_000,
    placeholderData: keepPreviousData,
  });
  return (
    <Page
      title={t('title')}
      actions={
        <SegmentedControl
          aria-label={t('range')}
          data={RANGES.map((value) => ({ value, label: t(value) }))}
          value={range}
          onChange={(chosen) => filters.set({ range: chosen })}
        />
      }
    >
      <Loaded query={found}>
        {(overview) => (
          <Stack gap={20} data-refreshing={found.isPlaceholderData || undefined}>
            <Cells overview={overview} />
            <Alerts overview={overview} />
          </Stack>
        )}
      </Loaded>
    </Page>
  );
}

type OneCell = CellsOverview['cells'][number];

interface Line {
  readonly of: OneCell | undefined;
  readonly activeOrders: number;
  readonly ordersCreated: number;
  readonly volumeCent: number;
  readonly refundedCent: number;
  readonly debitsFailed: number;
  readonly eventsWaiting: number;
  readonly openAlerts: number;
}

const toLine = ({ totals, now }: Pick<OneCell, 'totals' | 'now'>, of?: OneCell): Line => ({
  of,
  activeOrders: now.activeOrders,
  ordersCreated: totals.ordersCreated,
  volumeCent: totals.paidCent + totals.billedCent,
  refundedCent: totals.refundedCent,
  debitsFailed: totals.debitsFailed,
  eventsWaiting: now.eventsWaiting,
  openAlerts: now.openAlerts,
});

const column = columnsOf<Line>();

function Cells({ overview }: { readonly overview: CellsOverview }) {
  const t = useTexts();
  const columns = [
    column.of(t('cell'), ({ of }) => (of ? <CellLink of={of} /> : <strong>{t('total')}</strong>)),
    column.of(
      t('state'),
      ({ of }) => (of ? <Tag tone={of.problem ? 'negative' : 'neutral'}>{t(of.problem ?? 'reachable')}</Tag> : null),
      { inCard: 'aside' },
    ),
    column.count(t('activeOrders'), 'activeOrders'),
    column.count(t('ordersCreated'), 'ordersCreated'),
    column.money(t('volume'), 'volumeCent'),
    column.money(t('refunded'), 'refundedCent'),
    column.count(t('debitsFailed'), 'debitsFailed'),
    column.count(t('eventsWaiting'), 'eventsWaiting'),
    column.count(t('openAlerts'), 'openAlerts'),
  ];
  return (
    <Section title={t('cells')} hint={t('cellsHint')}>
      <DataTable
        caption={t('cells')}
        columns={columns}
        rows={[toLine(overview), ...overview.cells.map((one) => toLine(one, one))]}
        rowKey={({ of }) => (of ? String(of.cell) : 'total')}
      />
    </Section>
  );
}

function CellLink({ of: { cell, consoleUrl } }: { readonly of: OneCell }) {
  const t = useTexts();
  const name = `${t('cell')} ${cell}`;
  return consoleUrl ? <a href={consoleUrl}>{name}</a> : name;
}

const alertColumn = columnsOf<CellsOverview['alerts'][number]>();

function Alerts({ overview: { alerts, cells } }: { readonly overview: CellsOverview }) {
  const t = useTexts();
  const words = useAlertTexts();
  const columns = [
    alertColumn.of(t('kind'), ({ kind }) => words.name(kind), { grows: true }),
    alertColumn.status(t('severity'), 'severity', 'severity'),
    alertColumn.of(t('subject'), ({ subject }) => <span className="mono">{subject}</span>),
    alertColumn.of(t('cell'), ({ cell }) => {
      const found = cells.find((one) => one.cell === cell);
      return found ? <CellLink of={found} /> : cell;
    }),
    alertColumn.of(t('lastSeen'), ({ lastSeenAt }) => <Time value={lastSeenAt} as="ago" />, { align: 'end' }),
  ];
  return (
    <Section title={t('alerts')}>
      {alerts.length === 0 ? (
        <Empty title={t('noAlerts')} />
      ) : (
        <DataTable
          caption={t('alerts')}
          columns={columns}
          rows={alerts}
          rowKey={({ cell, kind, subject }) => `${cell} ${kind} ${subject}`}
        />
      )}
    </Section>
  );
}
