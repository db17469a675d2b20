import { ActionIcon } from '@mantine/core';
import { useRef, useState } from 'react';
import { useCommonTexts } from '../../i18n/common.ts';
import { CheckIcon, CopyIcon } from '../../icons/icons.tsx';
import styles from './copyable.module.css';

interface CopyableProps {
  readonly value: string;
  /** What is shown, when that is something else. */
  readonly children?: React.ReactNode;
  /** In a box, where the whole of it can be read and selected: for what is shown once. */
  readonly isWhole?: boolean;
}

/** A number or an id with a button that copies it. */
export function Copyable({ value, children, isWhole }: CopyableProps) {
  const t = useCommonTexts();
  const [isCopied, setCopied] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const copy = async () => {
    await copyText(value);
    setCopied(true);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setCopied(false), 1500);
  };
  return (
    <span className={styles.copyable} data-whole={isWhole}>
      <span className={isWhole ? 'mono' : 'mono one-line'}>{children ?? value}</span>
      <ActionIcon
        variant="subtle"
        size={20}
        color={isCopied ? 'green' : 'gray'}
        data-copied={isCopied || undefined}
        aria-label={`${t('copy')} ${value}`}
        title={isCopied ? t('copied') : t('copy')}
        onClick={(event) => {
          event.stopPropagation();
          void copy();
        }}
      >
        {isCopied ? <CheckIcon size={14} /> : <CopyIcon size={14} />}
      </ActionIcon>
      <span className="only-read" role="status">
        {isCopied ? t('copied') : ''}
      </span>
    </span>
  );
}

/** Over plain HTTP of another host a browser has no clipboard for scripts; then the text is at least selected. */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'only-read';
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}
