import { Box, Button, Group, Stack, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useFilters } from '../../address/filters.ts';
import { api } from '../../api/client.ts';
import type { BulkItem, BulkKind, BulkRun } from '../../api/order-types.ts';
import type { Role } from '../../api/types.ts';
import { usePages } from '../../api/use-pages.ts';
import { useCommonTexts } from '../../i18n/common.ts';
import { ConfirmDialog } from '../../parts/dialogs/confirm-dialog.tsx';
import { Toggles } from '../../parts/fields/toggles.tsx';
import { columnsOf } from '../../parts/lists/columns.tsx';
import { CsvExport } from '../../parts/lists/csv-export.tsx';
import { List } from '../../parts/lists/list.tsx';
import { Figure, filterToggles, known, OrderLink } from '../../parts/lists/list-parts.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { notifyDone } from '../../parts/notify.ts';
import { Facts, Page, Section } from '../../parts/page.tsx';
import { Empty, FormProblem, Loading } from '../../parts/states.tsx';
import { countText, moneyText } from '../../parts/values/money.tsx';
import { Status, useStatusChoices } from '../../parts/values/status.tsx';
import { Time } from '../../parts/values/time.tsx';
import { useSaidText } from '../../parts/values/use-said-text.ts';
import { useMayDo, useSession } from '../../session/session.ts';
import { BulkPreview } from './bulk-preview.tsx';
import { RUN_FILTERS } from './filters.ts';
import { RunProgress } from './run-progress.tsx';
import { useTexts } from './texts.ts';
import { useFilterText, useKindHints, useKindTexts } from './words.ts';

/**
 * The roles that may prepare and cancel a run of each kind, as in the service. Only the operator who prepared a run may
 * start it.
 */
const ROLE_FOR: Readonly<Record<BulkKind, Role>> = {
  RETRY: 'support',
  UNSUBSCRIBE: 'support',
  REPLAY: 'support',
  REFUND: 'finance',
};

/** The polling interval in milliseconds, by the status of a run. Other runs change only while items are pending. */
const LOOK_AGAIN: Readonly<Partial<Record<BulkRun['status'], number>>> = {
  RUNNING: 1500,
  WAITING: 5000,
  PREPARED: 15_000,
};
/** The polling interval in milliseconds while items wait for a final result. A canceled run can have such items. */
const LOOK_AGAIN_PENDING = 5000;

const lookAgainAfter = (run: BulkRun | undefined): number | false =>
  (run && (LOOK_AGAIN[run.status] ?? (run.pending > 0 ? LOOK_AGAIN_PENDING : undefined))) ?? false;

interface RunProps {
  readonly run: BulkRun;
}

/** Shows a run from its dry run to its last result. Keeps no data of its own, so that the page can be reloaded. */
export default function RunPage() {
  const t = useTexts();
  const kindText = useKindTexts();
  const { runId = '' } = useParams({ strict: false }) as { readonly runId?: string };
  const found = useQuery({
    queryKey: ['/bulk', runId],
    queryFn: ({ signal }) => api.get('/bulk/{runId}', { runId }, signal),
    refetchInterval: ({ state }) => lookAgainAfter(state.data),
  });
  const name = t('run', { runId });
  return (
    <Page
      title={found.data ? `${kindText(found.data.kind)} · ${name}` : name}
      above={<Link to="/bulk">{t('title')}</Link>}
      aside={found.data ? <Status of="bulk" value={found.data.status} /> : null}
    >
      <Loaded query={found} meanwhile={<Loading />}>
        {(run) => (
          <>
            <State run={run} />
            <RunFacts run={run} />
            <Items run={run} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** Shows the run's state and the next action. */
function State({ run }: RunProps) {
  const t = useTexts();
  const kindHint = useKindHints();
  const mayAct = useMayDo(ROLE_FOR[run.kind]);
  const { name } = useSession();
  const { status, kind, pending, failed, skipped } = run;
  const counted = (count: number) => ({ count: countText(count) });
  const hints: Readonly<Record<BulkRun['status'], string>> = {
    PREPARED: kindHint(kind),
    WAITING: t('waitingHint'),
    RUNNING: t('runningHint'),
    PENDING: t('pendingHint', counted(pending)),
    DONE: failed > 0 ? t('doneSome', counted(failed)) : skipped > 0 ? t('doneSkipped', counted(skipped)) : t('doneAll'),
    CANCELED: pending > 0 ? t('canceledPending', counted(pending)) : t('canceledHint'),
    DECLINED: t('declinedHint'),
  };
  return (
    <Stack
      component="section"
      gap={14}
      p="18px 20px"
      bd="1px solid var(--line)"
      bdrs={12}
      bg="var(--ground)"
      aria-live="polite"
    >
      <div>
        <Box component="p" fw={600}>
          {t(status)}
        </Box>
        <Box component="p" className="quiet" mt={2}>
          {hints[status]}
        </Box>
      </div>
      {status === 'PREPARED' ? (
        <Group gap="4px 24px" align="baseline">
          <Figure size="1.5rem">{t('meant', counted(run.items - skipped))}</Figure>
          {kind === 'REPLAY' ? null : <Figure size="1.5rem">{moneyText(run.amountCent)}</Figure>}
          {skipped > 0 ? <span className="quiet">{t('leftOut', counted(skipped))}</span> : null}
        </Group>
      ) : status === 'WAITING' || status === 'DECLINED' ? null : (
        <Progress run={run} />
      )}
      {kind === 'REFUND' && ['PREPARED', 'WAITING', 'RUNNING'].includes(status) ? (
        <BulkPreview runId={run.runId} title={t(status === 'RUNNING' ? 'remaining' : 'effects')} />
      ) : null}
      {mayAct && status === 'PREPARED' && run.requestedBy === name ? (
        <Start run={run} />
      ) : mayAct && ['PREPARED', 'WAITING', 'RUNNING'].includes(status) ? (
        <Group gap={0}>
          <CancelButton run={run} />
        </Group>
      ) : null}
    </Stack>
  );
}

const countWaiting = ({ items, done, pending, failed, skipped }: BulkRun): number =>
  items - done - pending - failed - skipped;

function Progress({ run }: RunProps) {
  const t = useTexts();
  const { done, pending, failed, skipped } = run;
  const counts = [
    ['itemDone', done, 'var(--positive)'],
    ...(pending > 0 ? ([['itemPending', pending, 'var(--waiting)']] as const) : []),
    ['itemFailed', failed, failed > 0 ? 'var(--negative)' : 'inherit'],
    ['itemSkipped', skipped, 'dimmed'],
    ...(countWaiting(run) > 0 ? ([['itemWaiting', countWaiting(run), 'dimmed']] as const) : []),
  ] as const;
  return (
    <>
      <RunProgress run={run} />
      <Group className="figures small" gap="4px 18px">
        {counts.map(([key, count, color]) => (
          <Box key={key} component="span" c={color}>
            {t(key, { count: countText(count) })}
          </Box>
        ))}
      </Group>
    </>
  );
}

/** Asks the operator to type the number of items before the run starts. */
function Start({ run }: RunProps) {
  const t = useTexts();
  const common = useCommonTexts();
  const queries = useQueryClient();
  const [words, setWords] = useState('');
  const start = useMutation({
    mutationFn: () => api.post('/bulk/{runId}/start', { runId: run.runId, confirmation: words.trim() }),
    onSuccess: (started) => {
      queries.setQueryData(['/bulk', run.runId], started);
      void queries.invalidateQueries({ queryKey: ['/bulk'] });
      notifyDone(started.status === 'WAITING' ? t('askDone') : t('startDone'));
    },
  });
  const isTyped = words.trim() === run.confirmation;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isTyped) start.mutate();
      }}
    >
      <Group gap={8} align="flex-end">
        <TextInput
          label={common('typeToConfirm', { words: run.confirmation })}
          value={words}
          onChange={(event) => setWords(event.currentTarget.value)}
          autoComplete="off"
          spellCheck={false}
          classNames={{ input: 'mono' }}
          w={{ base: '100%', sm: 220 }}
        />
        <Button type="submit" color="red" disabled={!isTyped} loading={start.isPending}>
          {t('start')}
        </Button>
        <CancelButton run={run} />
      </Group>
      <FormProblem error={start.error} />
    </form>
  );
}

function CancelButton({ run }: RunProps) {
  const t = useTexts();
  const queries = useQueryClient();
  const [isAsked, setAsked] = useState(false);
  return (
    <>
      <Button variant="default" onClick={() => setAsked(true)}>
        {t('cancel')}
      </Button>
      <ConfirmDialog
        isOpen={isAsked}
        title={t('cancelTitle', { runId: run.runId })}
        verb={t('cancel')}
        isDangerous
        onClose={() => setAsked(false)}
        onConfirm={async () => {
          queries.setQueryData(['/bulk', run.runId], await api.post('/bulk/{runId}/cancel', { runId: run.runId }));
          void queries.invalidateQueries({ queryKey: ['/bulk'] });
          notifyDone(t('cancelDone'));
        }}
      >
        <p>{t('cancelHint')}</p>
      </ConfirmDialog>
    </>
  );
}

function RunFacts({ run }: RunProps) {
  const t = useTexts();
  const filter = useFilterText()(run.filter);
  const time = (value: string | null) => value && <Time value={value} as="full" />;
  return (
    <Facts
      facts={known([
        [t('reason'), run.reason],
        [t('chosenBy'), filter ? t(isOfList(run.filter) ? 'byList' : 'byFilter', { filter }) : t('byName')],
        [t('by'), run.requestedBy],
        [t('at'), time(run.requestedAt)],
        [t('started'), time(run.startedAt)],
        [t('finished'), time(run.finishedAt)],
        [
          t('approval'),
          run.approvalId && (
            <Link key="approval" to="/approvals" search={{ status: 'ALL' }}>
              {t('approvalLink', { approvalId: run.approvalId })}
            </Link>
          ),
        ],
      ])}
    />
  );
}

/** True for a run whose numbers were pasted or uploaded. */
const isOfList = (filter: unknown): boolean => typeof filter === 'object' && filter !== null && 'list' in filter;

const column = columnsOf<BulkItem>();

function Items({ run }: RunProps) {
  const t = useTexts();
  const saidText = useSaidText();
  const filters = useFilters(RUN_FILTERS);
  const choices = useStatusChoices('item');
  const { runId, status, pending } = run;
  const isChanging = status === 'RUNNING' || pending > 0;
  const list = usePages(
    '/bulk/{runId}/items',
    { runId, ...filters.values },
    ({ items }) => items,
    isChanging ? { refetchInterval: status === 'RUNNING' ? 2500 : LOOK_AGAIN_PENDING } : {},
  );
  const queries = useQueryClient();
  // Loads the items a last time when polling stops.
  useEffect(() => {
    if (!isChanging) void queries.invalidateQueries({ queryKey: ['/bulk/{runId}/items'] });
  }, [queries, isChanging]);
  const counts: Readonly<Record<string, number>> = {
    WAITING: countWaiting(run),
    PENDING: pending,
    DONE: run.done,
    FAILED: run.failed,
    SKIPPED: run.skipped,
  };
  const columns = [
    column.of(t('subject'), ({ subject, orderNo }) =>
      orderNo ? <OrderLink orderNo={orderNo}>{subject}</OrderLink> : <span className="figures">{subject}</span>,
    ),
    column.status(t('status'), 'item', 'status'),
    column.of(
      t('result'),
      ({ result, said }) =>
        result === null ? (
          <span className="quiet">–</span>
        ) : (
          <span title={saidText(result, said)}>{saidText(result, said)}</span>
        ),
      { grows: true, inCard: 'text' },
    ),
    column.money(t('amount'), 'amountCent'),
    column.time(t('time'), 'finishedAt'),
  ];
  return (
    <Section
      title={status === 'PREPARED' || status === 'WAITING' ? t('itemsMeant') : t('items')}
      actions={
        <>
          <Toggles
            label={t('status')}
            choices={choices.map((choice) => ({ ...choice, count: counts[choice.value] }))}
            {...filterToggles(filters, 'status')}
          />
          <CsvExport
            path="/bulk/{runId}/items/csv"
            filter={{ runId, ...filters.values }}
            total={undefined}
            isEmpty={list.rows?.length === 0}
            doneText={(count) => t('exported', { count })}
          />
        </>
      }
    >
      <List
        list={list}
        caption={t('itemsCaption')}
        columns={columns}
        rowKey={({ itemNo }) => String(itemNo)}
        empty={<Empty isFiltered title={t('noItems')} />}
      />
    </Section>
  );
}
