import { Button, Group, Progress } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { download } from '../../api/client.ts';
import { dictionary } from '../../i18n/dictionary.ts';
import { DownloadIcon } from '../../icons/icons.tsx';
import { notifyDone, notifyProblem } from '../notify.ts';
import { countText } from '../values/money.tsx';

const useTexts = dictionary({
  export: ['Export CSV', '导出 CSV'],
  exporting: ['{count} exported', '已导出 {count} 行'],
  exportingOf: ['{count} of {total} exported', '已导出 {count} / {total} 行'],
  exportStop: ['Stop export', '停止导出'],
});

interface CsvExportProps {
  readonly path: '/orders.csv' | '/payments.csv' | '/refunds.csv' | '/differences.csv' | '/bulk/{runId}/items/csv';
  readonly filter: Readonly<Record<string, string | undefined>>;
  /** The total number of rows, if known. */
  readonly total: number | undefined;
  readonly isEmpty: boolean;
  /** Returns the message after an export. */
  doneText(count: string): string;
}

const NEW_LINE = 10;

/** Exports all matching rows as a file, with progress and a stop button. */
export function CsvExport({ path, filter, total, isEmpty, doneText }: CsvExportProps) {
  const t = useTexts();
  const [exported, setExported] = useState<number>();
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const begin = async () => {
    const controller = new AbortController();
    running.current = controller;
    // Starts at -1, because the first line is the header.
    let count = -1;
    const onPiece = (piece: Uint8Array) => {
      for (const byte of piece) if (byte === NEW_LINE) count += 1;
      setExported(Math.max(0, count));
    };
    setExported(0);
    try {
      await download(path, filter, { signal: controller.signal, onPiece });
      notifyDone(doneText(countText(count)));
    } catch (error) {
      if (!controller.signal.aborted) notifyProblem(error);
    } finally {
      setExported(undefined);
    }
  };
  if (exported === undefined)
    return (
      <Button
        variant="default"
        size="xs"
        ml="auto"
        leftSection={<DownloadIcon size={15} />}
        disabled={isEmpty}
        onClick={() => void begin()}
      >
        {t('export')}
      </Button>
    );
  const count = countText(exported);
  return (
    <Group gap={8} ml="auto" role="status">
      <Progress w={90} size={4} aria-label={t('export')} animated value={total ? (exported / total) * 100 : 100} />
      <span className="quiet">
        {total === undefined ? t('exporting', { count }) : t('exportingOf', { count, total: countText(total) })}
      </span>
      <Button variant="default" size="xs" onClick={() => running.current?.abort()}>
        {t('exportStop')}
      </Button>
    </Group>
  );
}
