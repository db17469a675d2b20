import { type ComponentProps, type ReactNode, useState } from 'react';
import { dictionary } from '../../i18n/dictionary.ts';
import { CheckIcon, UploadIcon } from '../../icons/icons.tsx';
import { Problem } from '../states.tsx';
import { countText } from '../values/money.tsx';
import styles from './file-drop.module.css';

const useTexts = dictionary({
  choose: ['Drop a file here, or choose one', '拖入文件，或点击选择'],
  another: ['Choose another file', '重新选择'],
  lines: ['{count} line|{count} lines', '{count} 行'],
  tooBig: ['{name} is {size} MB; the limit is {limit} MB', '{name} 大小为 {size} MB，不能超过 {limit} MB'],
  notText: ['{name} is not a text file', '{name} 不是文本文件'],
});

/** Returns `take`, which reads a chosen file, and `wrong`, the reason if the file could not be read. */
export function useReading<Content>(read: (file: File) => Promise<Content>, onRead: (content: Content) => void) {
  const [wrong, setWrong] = useState<string>();
  const take = async (file: File) => {
    try {
      onRead(await read(file));
      setWrong(undefined);
    } catch (error) {
      setWrong(error instanceof Error ? error.message : String(error));
    }
  };
  return { wrong, take, forget: () => setWrong(undefined) };
}

interface DropBoxProps extends Omit<ComponentProps<'input'>, 'onChange'> {
  readonly icon: ReactNode;
  readonly name: string;
  readonly hint: string;
  onFile(file: File): void;
}

/** An area to drop or choose a file. It is covered by an invisible file input, which does the work. */
export function DropBox({ icon, name, hint, onFile, ...field }: DropBoxProps) {
  return (
    <label className={styles.drop}>
      {icon}
      <span className={styles.text}>
        {name}
        <span className="quiet small">{hint}</span>
      </span>
      <input
        {...field}
        type="file"
        onChange={(event) => {
          const [file] = event.currentTarget.files ?? [];
          if (file) onFile(file);
          // Clears the input, because otherwise choosing the same file again, after a correction, would have no effect.
          event.currentTarget.value = '';
        }}
      />
    </label>
  );
}

export interface ChosenFile {
  readonly name: string;
  readonly text: string;
}

const MAX_MB = 5;

interface FileDropProps {
  readonly label: string;
  readonly hint: string;
  readonly accept: string;
  readonly file: ChosenFile | undefined;
  onChange(file: ChosenFile): void;
}

/** A field for a text file. */
export function FileDrop({ label, hint, accept, file, onChange }: FileDropProps) {
  const t = useTexts();
  const read = async (given: File): Promise<ChosenFile> => {
    const { name, size } = given;
    if (size > MAX_MB * 1_000_000)
      throw new Error(t('tooBig', { name, size: (size / 1_000_000).toFixed(1), limit: MAX_MB }));
    const bytes = await given.arrayBuffer();
    try {
      return { name, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
    } catch {
      throw new Error(t('notText', { name }));
    }
  };
  const { wrong, take } = useReading(read, onChange);
  const lines = file?.text.split('\n').filter((line) => line.trim() !== '').length ?? 0;
  return (
    <>
      <DropBox
        icon={file ? <CheckIcon size={20} /> : <UploadIcon size={20} />}
        name={file?.name ?? t('choose')}
        hint={file ? `${t('lines', { count: countText(lines) })} · ${t('another')}` : hint}
        accept={accept}
        aria-label={label}
        onFile={take}
      />
      {wrong ? <Problem>{wrong}</Problem> : null}
    </>
  );
}
