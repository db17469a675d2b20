import { ActionIcon } from '@mantine/core';
import { useRef, useState } from 'react';
import { useCommonTexts } from '../../i18n/common.ts';
import { CheckIcon, CopyIcon } from '../../icons/icons.tsx';
import styles from './copyable.module.css';

interface CopyableProps {
  readonly value: string;
  /** The text shown, if it differs from the value. */
  readonly children?: React.ReactNode;
  /** Shows the whole value in a box, for values that are shown only once. */
  readonly isWhole?: boolean;
}

/** A number or an id with a copy button. */
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
    <span className={styles.copyable} data-copyable data-whole={isWhole}>
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

/** Copies the text. Without the clipboard API, which needs HTTPS or localhost, copies it from a hidden text area. */
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
