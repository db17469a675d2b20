import { Box, Button, Group, Paper } from '@mantine/core';
import { useState } from 'react';
import type { BulkKind } from '../../api/order-types.ts';
import { useCommonTexts } from '../../i18n/common.ts';
import { dictionary } from '../../i18n/dictionary.ts';
import type { Selection } from '../../parts/lists/data-table.tsx';
import { countText, moneyText } from '../../parts/values/money.tsx';
import { PrepareRunDialog } from './prepare-run-dialog.tsx';

const useTexts = dictionary({
  selected: ['{count} selected', '已选 {count} 项'],
  all: ['All {count} matching selected', '已选全部 {count} 项'],
  allUnknown: ['All matching selected, also those not shown', '已选全部符合条件的记录（含未显示的）'],
  chooseAll: ['Select all {count} matching', '选择全部 {count} 项'],
  chooseAllUnknown: ['Select all matching', '选择全部符合条件的记录'],
  label: ['Selection', '已选内容'],
  atLeast: ['{count}+', '{count}+'],
});

type Filter = Readonly<Record<string, string | undefined>>;

export interface RowChoice {
  readonly selection: Selection;
  /** True if all rows that match the filters are selected, not only the rows shown. */
  readonly isAll: boolean;
  chooseAll(): void;
  clear(): void;
}

/**
 * Holds the selected rows of a list. Cleared when the filters change, because operators must not act on rows that they
 * no longer see.
 */
export function useRowChoice(filter: Filter): RowChoice {
  const question = JSON.stringify(filter);
  const [chosen, setChosen] = useState({ question, selected: new Set<string>() as ReadonlySet<string>, isAll: false });
  const isCurrent = chosen.question === question;
  const selected = isCurrent ? chosen.selected : new Set<string>();
  const choose = (next: ReadonlySet<string>, isAll = false) => setChosen({ question, selected: next, isAll });
  return {
    isAll: isCurrent && chosen.isAll,
    selection: { selected, onChange: (next) => choose(next) },
    chooseAll: () => choose(selected, true),
    clear: () => choose(new Set()),
  };
}

interface BulkAction<Row> {
  readonly kind: BulkKind;
  readonly label: string;
  /** Returns the item that stands for the row in a bulk run, or undefined if the action does not apply to the row. */
  itemOf(row: Row): string | undefined;
  /** Set if the action does not support this list's filters: it then needs a selection of single rows. */
  readonly isForNamedOnly?: boolean;
}

interface SelectionBarProps<Row> {
  readonly choice: RowChoice;
  readonly rows: readonly Row[];
  rowKey(row: Row): string;
  amountOf?(row: Row): number;
  readonly hasMore: boolean;
  readonly mayChooseAll: boolean;
  /** The number of rows that match the filters, if known. */
  readonly matching: { readonly count: number; readonly isAtLeast: boolean } | undefined;
  readonly filter: Filter;
  readonly actions: readonly BulkAction<Row>[];
}

/** The bar at the bottom of the window: how many rows are selected, and the actions on them. */
export function SelectionBar<Row>(props: SelectionBarProps<Row>) {
  const { choice, rows, rowKey, amountOf, hasMore, mayChooseAll, matching, filter, actions } = props;
  const t = useTexts();
  const common = useCommonTexts();
  const [task, setTask] = useState<BulkAction<Row>>();
  const meant = rows.filter((row) => choice.selection.selected.has(rowKey(row)));
  if (meant.length === 0 || actions.length === 0) return null;
  const isWholeList = meant.length === rows.length;
  const count = matching
    ? matching.isAtLeast
      ? t('atLeast', { count: countText(matching.count) })
      : countText(matching.count)
    : undefined;
  const amount = amountOf && meant.reduce((sum, row) => sum + amountOf(row), 0);
  return (
    <>
      <Paper
        component="section"
        withBorder
        shadow="lg"
        radius="lg"
        p="8px 8px 8px 16px"
        pos="sticky"
        bottom={16}
        maw="100%"
        style={{ zIndex: 5, alignSelf: 'center' }}
        aria-label={t('label')}
      >
        <Group gap={8}>
          <Box component="span" className="figures small" fw={500} role="status">
            {choice.isAll
              ? count
                ? t('all', { count })
                : t('allUnknown')
              : `${t('selected', { count: countText(meant.length) })}${amount === undefined ? '' : ` · ${moneyText(amount)}`}`}
          </Box>
          {isWholeList && hasMore && mayChooseAll && !choice.isAll ? (
            <Button variant="subtle" size="xs" onClick={choice.chooseAll}>
              {count ? t('chooseAll', { count }) : t('chooseAllUnknown')}
            </Button>
          ) : null}
          {actions.map((action, place) => (
            <Button
              key={action.kind}
              size="xs"
              variant={place === 0 ? 'filled' : 'default'}
              disabled={choice.isAll ? action.isForNamedOnly === true : meant.every((row) => !action.itemOf(row))}
              onClick={() => setTask(action)}
            >
              {action.label}
            </Button>
          ))}
          <Button variant="default" size="xs" onClick={choice.clear}>
            {common('clear')}
          </Button>
        </Group>
      </Paper>
      {task ? (
        <PrepareRunDialog
          kind={task.kind}
          what={
            choice.isAll
              ? {
                  filter: Object.fromEntries(Object.entries(filter).filter((one): one is [string, string] => !!one[1])),
                }
              : { items: meant.flatMap((row) => task.itemOf(row) ?? []) }
          }
          onClose={() => setTask(undefined)}
        />
      ) : null}
    </>
  );
}
