import { type DragEvent, useState } from 'react';
import { dictionary } from '../i18n/dictionary.ts';
import { CheckIcon, UploadIcon } from '../icons/icons.tsx';
import styles from './file-drop.module.css';
import { countText } from './money.tsx';

const useTexts = dictionary({
  choose: ['Drop a file here, or choose one', '拖入文件，或点击选择'],
  another: ['Choose another one', '重新选择'],
  lines: ['{count} line|{count} lines', '{count} 行'],
  tooBig: ['{name} has {size} MB; {limit} MB are taken', '{name} 大小为 {size} MB，上限 {limit} MB'],
  notText: ['{name} is no text file', '{name} 不是文本文件'],
});

/** A text file that was chosen. */
export interface ChosenFile {
  readonly name: string;
  readonly text: string;
}

const MAX_MB = 20;

/** Reads a file as text, or says in words why not. */
async function readFile(file: File, t: ReturnType<typeof useTexts>): Promise<ChosenFile> {
  const { name, size } = file;
  if (size > MAX_MB * 1_000_000)
    throw new Error(t('tooBig', { name, size: (size / 1_000_000).toFixed(1), limit: MAX_MB }));
  try {
    return { name, text: new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer()) };
  } catch {
    throw new Error(t('notText', { name }));
  }
}

interface FileDropProps {
  readonly label: string;
  readonly hint: string;
  readonly accept: string;
  readonly file: ChosenFile | undefined;
  onChange(file: ChosenFile): void;
}

/** A place for a file: it is dropped there, or chosen by a press or with the keyboard. */
export function FileDrop({ label, hint, accept, file, onChange }: FileDropProps) {
  const t = useTexts();
  const [wrong, setWrong] = useState<string>();
  const [isOver, setOver] = useState(false);
  const take = async (given: File | undefined) => {
    if (!given) return;
    try {
      onChange(await readFile(given, t));
      setWrong(undefined);
    } catch (error) {
      setWrong(error instanceof Error ? error.message : String(error));
    }
  };
  const drag = (over: boolean) => (event: DragEvent) => {
    event.preventDefault();
    setOver(over);
  };
  const lines = file?.text.split('\n').filter((line) => line.trim() !== '').length ?? 0;
  return (
    <div>
      <label
        className={styles.drop}
        data-over={isOver || undefined}
        onDragOver={drag(true)}
        onDragLeave={drag(false)}
        onDrop={(event) => {
          drag(false)(event);
          void take(event.dataTransfer.files[0]);
        }}
      >
        {file ? <CheckIcon size={20} /> : <UploadIcon size={20} />}
        <span className={styles.text}>
          <span className={styles.name}>{file?.name ?? t('choose')}</span>
          <span className={styles.hint}>
            {file ? `${t('lines', { count: countText(lines) })} · ${t('another')}` : hint}
          </span>
        </span>
        <input
          type="file"
          className="only-read"
          accept={accept}
          aria-label={label}
          onChange={(event) => {
            void take(event.currentTarget.files?.[0]);
            // The same file, corrected, can be chosen again.
            event.currentTarget.value = '';
          }}
        />
      </label>
      {wrong ? (
        <p className={styles.wrong} role="alert">
          {wrong}
        </p>
      ) : null}
    </div>
  );
}

/** For a page that takes a file wherever it is dropped. */
export function useFileDropOnPage(onFile: (file: ChosenFile) => void, onWrong: (error: unknown) => void) {
  const t = useTexts();
  const [isOver, setOver] = useState(false);
  const isFile = (event: DragEvent) => event.dataTransfer.types.includes('Files');
  return {
    isOver,
    handlers: {
      onDragOver: (event: DragEvent) => {
        if (!isFile(event)) return;
        event.preventDefault();
        setOver(true);
      },
      onDragLeave: (event: DragEvent) => {
        if (event.currentTarget === event.target) setOver(false);
      },
      onDrop: (event: DragEvent) => {
        if (!isFile(event)) return;
        event.preventDefault();
        setOver(false);
        const [file] = event.dataTransfer.files;
        if (file) void readFile(file, t).then(onFile, onWrong);
      },
    },
  };
}
