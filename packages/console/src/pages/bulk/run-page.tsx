import { Button, Group, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { useFilters } from '../../address/filters.ts';
import { api } from '../../api/client.ts';
import type { BulkItem, BulkKind, BulkRun } from '../../api/order-types.ts';
import type { Role } from '../../api/types.ts';
import { usePages } from '../../api/use-pages.ts';
import { useCommonTexts } from '../../i18n/common.ts';
import { useSaidText } from '../../i18n/use-said-text.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import type { Column } from '../../parts/data-table.tsx';
import { List } from '../../parts/list.tsx';
import { countText, Money, moneyText } from '../../parts/money.tsx';
import { notifyDone } from '../../parts/notify.ts';
import { Facts, Page, Section } from '../../parts/page.tsx';
import { Broken, Empty, FormProblem, Loading } from '../../parts/states.tsx';
import { Status, useStatusChoices } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { Toggles } from '../../parts/toggles.tsx';
import { useMayDo, useSession } from '../../session/session.ts';
import styles from './bulk.module.css';
import { RUN_FILTERS } from './filters.ts';
import { RunProgress } from './run-progress.tsx';
import { useTexts } from './texts.ts';
import { useFilterNames, useKindHints, useKindTexts } from './words.ts';

/** Who may prepare and cancel it, as the service has it. Who has prepared it starts it. */
const ROLE_FOR: Readonly<Record<BulkKind, Role>> = {
  RETRY: 'support',
  UNSUBSCRIBE: 'support',
  REPLAY: 'support',
  REFUND: 'finance',
};

/** How often to read a run again, in milliseconds, while it may change. */
const LOOK_AGAIN: Readonly<Partial<Record<BulkRun['status'], number>>> = {
  RUNNING: 1500,
  WAITING: 5000,
  PREPARED: 15_000,
};
/** The same while items wait for their final result. A run that was canceled can have such items too. */
const LOOK_AGAIN_PENDING = 5000;

const lookAgainAfter = (run: BulkRun | undefined): number | false =>
  (run && (LOOK_AGAIN[run.status] ?? (run.pending > 0 ? LOOK_AGAIN_PENDING : undefined))) ?? false;

/** A run from its dry run to its last result. All of it is read from the service, so a reload changes nothing. */
export default function RunPage() {
  const t = useTexts();
  const kindText = useKindTexts();
  const { runId = '' } = useParams({ strict: false }) as { readonly runId?: string };
  const found = useQuery({
    queryKey: ['/bulk', runId],
    queryFn: ({ signal }) => api.get('/bulk/{runId}', { runId }, signal),
    refetchInterval: ({ state }) => lookAgainAfter(state.data),
  });
  const above = <Link to="/bulk">{t('title')}</Link>;
  const run = found.data;
  if (!run)
    return (
      <Page title={t('run', { runId })} above={above}>
        {found.error ? <Broken error={found.error} onRetry={() => void found.refetch()} /> : <Loading />}
      </Page>
    );
  return (
    <Page
      title={`${kindText(run.kind)} · ${t('run', { runId })}`}
      above={above}
      aside={<Status of="bulk" value={run.status} />}
    >
      <State run={run} />
      <RunFacts run={run} />
      <Items run={run} />
    </Page>
  );
}

/** The one thing to know now, and to do. */
function State({ run }: { readonly run: BulkRun }) {
  const t = useTexts();
  const kindHint = useKindHints();
  const mayAct = useMayDo(ROLE_FOR[run.kind]);
  const { name } = useSession();
  const cancel = mayAct ? <CancelButton run={run} /> : null;
  const doneHint = ({ failed, skipped }: BulkRun) => {
    if (failed > 0) return t('doneSome', { count: countText(failed) });
    return skipped > 0 ? t('doneSkipped', { count: countText(skipped) }) : t('doneAll');
  };
  switch (run.status) {
    case 'PREPARED':
      return (
        <Panel title={t('dryRun')} hint={kindHint(run.kind)} aside={cancel}>
          <Group gap="4px 24px" align="baseline">
            <span className={`figures ${styles.sum}`}>{t('meant', { count: countText(run.items - run.skipped) })}</span>
            {run.kind === 'REPLAY' ? null : (
              <span className={`figures ${styles.sum}`}>{moneyText(run.amountCent)}</span>
            )}
            {run.skipped > 0 ? <span className="quiet">{t('leftOut', { count: countText(run.skipped) })}</span> : null}
          </Group>
          {mayAct && run.requestedBy === name ? <Start run={run} /> : null}
        </Panel>
      );
    case 'WAITING':
      return <Panel title={t('waiting')} hint={t('waitingHint')} aside={cancel} />;
    case 'RUNNING':
      return (
        <Panel title={t('running')} hint={t('runningHint')} aside={cancel}>
          <Progress run={run} />
        </Panel>
      );
    case 'PENDING':
      return (
        <Panel title={t('pending')} hint={t('pendingHint', { count: countText(run.pending) })}>
          <Progress run={run} />
        </Panel>
      );
    case 'DONE':
      return (
        <Panel title={t('done')} hint={doneHint(run)}>
          <Progress run={run} />
        </Panel>
      );
    case 'CANCELED':
      return (
        <Panel
          title={t('canceled')}
          hint={run.pending > 0 ? t('canceledPending', { count: countText(run.pending) }) : t('canceledHint')}
        >
          <Progress run={run} />
        </Panel>
      );
    case 'DECLINED':
      return <Panel title={t('declined')} hint={t('declinedHint')} />;
  }
}

interface PanelProps {
  readonly title: string;
  readonly hint: string;
  readonly aside?: ReactNode;
  readonly children?: ReactNode;
}

function Panel({ title, hint, aside, children }: PanelProps) {
  return (
    <section className={styles.panel} aria-live="polite">
      <Group gap="12px 24px" align="flex-start" justify="space-between">
        <div>
          <p className={styles.panelTitle}>{title}</p>
          <p className={styles.panelHint}>{hint}</p>
        </div>
        {aside}
      </Group>
      {children}
    </section>
  );
}

const countWaiting = ({ items, done, pending, failed, skipped }: BulkRun): number =>
  items - done - pending - failed - skipped;

function Progress({ run }: { readonly run: BulkRun }) {
  const t = useTexts();
  const { done, pending, failed, skipped } = run;
  const left = countWaiting(run);
  return (
    <>
      <RunProgress run={run} />
      <div className={`figures ${styles.counts}`}>
        <span data-tone="positive">{t('itemDone', { count: countText(done) })}</span>
        {pending > 0 ? <span data-tone="waiting">{t('itemPending', { count: countText(pending) })}</span> : null}
        <span data-tone={failed > 0 ? 'negative' : undefined}>{t('itemFailed', { count: countText(failed) })}</span>
        <span className="quiet">{t('itemSkipped', { count: countText(skipped) })}</span>
        {left > 0 ? <span className="quiet">{t('itemWaiting', { count: countText(left) })}</span> : null}
      </div>
    </>
  );
}

/** What a press would do has to be typed: how many it are. */
function Start({ run }: { readonly run: BulkRun }) {
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
      {run.needsApproval ? <p className={styles.panelHint}>{t('needsSecond')}</p> : null}
      <div className={styles.start}>
        <TextInput
          label={common('typeToConfirm', { words: run.confirmation })}
          value={words}
          onChange={(event) => setWords(event.currentTarget.value)}
          autoComplete="off"
          spellCheck={false}
          classNames={{ input: 'mono' }}
        />
        <Button type="submit" color="red" disabled={!isTyped} loading={start.isPending}>
          {t('start')}
        </Button>
      </div>
      <FormProblem error={start.error} />
    </form>
  );
}

function CancelButton({ run }: { readonly run: BulkRun }) {
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

function RunFacts({ run }: { readonly run: BulkRun }) {
  const t = useTexts();
  return (
    <Facts
      facts={[
        [t('reason'), run.reason],
        [t('chosenBy'), <ChosenBy key="chosen" filter={run.filter} />],
        [t('by'), run.requestedBy],
        [t('at'), <Time key="at" value={run.requestedAt} as="full" />],
        ...(run.startedAt ? [[t('started'), <Time key="started" value={run.startedAt} as="full" />] as const] : []),
        ...(run.finishedAt ? [[t('finished'), <Time key="finished" value={run.finishedAt} as="full" />] as const] : []),
        ...(run.approvalId
          ? [
              [
                t('approval'),
                <Link key="approval" to="/approvals" search={{ status: 'ALL' }}>
                  {t('approvalLink', { approvalId: run.approvalId })}
                </Link>,
              ] as const,
            ]
          : []),
      ]}
    />
  );
}

function ChosenBy({ filter }: { readonly filter: unknown }) {
  const t = useTexts();
  const nameOf = useFilterNames();
  const given = Object.entries((filter ?? {}) as Readonly<Record<string, string>>);
  if (given.length === 0) return t('byName');
  const words = given.map(([name, value]) => `${nameOf(name as Parameters<typeof nameOf>[0])}: ${value}`);
  return t('byFilter', { filter: words.join(', ') });
}

function Items({ run }: { readonly run: BulkRun }) {
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
  // What was done since the list was last looked at, when nobody looks at it any more.
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
  const columns: readonly Column<BulkItem>[] = [
    {
      id: 'subject',
      header: t('subject'),
      cell: ({ subject, orderNo }) =>
        orderNo ? (
          <Link to="/orders/$orderNo" params={{ orderNo }} className="figures">
            {subject}
          </Link>
        ) : (
          <span className="figures">{subject}</span>
        ),
    },
    { id: 'status', header: t('status'), cell: ({ status }) => <Status of="item" value={status} />, inCard: 'aside' },
    {
      id: 'result',
      header: t('result'),
      grows: true,
      inCard: 'text',
      cell: ({ result, said }) =>
        result === null ? (
          <span className="quiet">–</span>
        ) : (
          <span title={saidText(result, said)}>{saidText(result, said)}</span>
        ),
    },
    {
      id: 'amount',
      header: t('amount'),
      align: 'end',
      cell: ({ amountCent }) => <Money cents={amountCent} />,
    },
    { id: 'time', header: t('time'), align: 'end', cell: ({ finishedAt }) => <Time value={finishedAt} /> },
  ];
  return (
    <Section
      title={run.status === 'PREPARED' || run.status === 'WAITING' ? t('itemsMeant') : t('items')}
      actions={
        <Toggles
          label={t('status')}
          isSingle
          choices={choices.map((choice) => ({ ...choice, count: counts[choice.value] }))}
          selected={filters.values.status ? [filters.values.status] : []}
          onChange={([status]) => filters.set({ status: status === filters.values.status ? undefined : status })}
        />
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
