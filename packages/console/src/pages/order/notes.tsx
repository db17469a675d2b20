import { Button, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { OrderAnswer } from '../../api/order-types.ts';
import { Section } from '../../parts/page.tsx';
import { FormProblem } from '../../parts/states.tsx';
import { Time } from '../../parts/time.tsx';
import { WordsField } from '../../parts/words-field.tsx';
import { useMayDo } from '../../session/session.ts';
import { useOrderChanged } from './dialogs.tsx';
import styles from './order.module.css';
import { useTexts } from './texts.ts';

/** What colleagues should know. They stand in the timeline too, at their time. */
export function NotesSection({ shown }: { readonly shown: OrderAnswer }) {
  const t = useTexts();
  const [isSupport, isFinance] = [useMayDo('support'), useMayDo('finance')];
  const notes = shown.timeline.filter(({ kind }) => kind === 'note');
  return (
    <Section title={t('notes')}>
      {notes.length === 0 ? <p className="quiet small">{t('noNotes')}</p> : null}
      <Stack component="ul" gap={12}>
        {notes.map(({ at, actor, detail, data }) => (
          <li key={JSON.stringify(data)} className={styles.note}>
            <p>{detail}</p>
            <span className="quiet tiny">
              {actor} · <Time value={at} />
            </span>
          </li>
        ))}
      </Stack>
      {isSupport || isFinance ? <NoteForm orderNo={shown.order.orderNo} /> : null}
    </Section>
  );
}

function NoteForm({ orderNo }: { readonly orderNo: string }) {
  const t = useTexts();
  const changed = useOrderChanged();
  const [text, setText] = useState('');
  const add = useMutation({
    mutationFn: () => api.post('/orders/{orderNo}/notes', { orderNo, text: text.trim() }),
    onSuccess: () => {
      setText('');
      changed();
    },
  });
  const isEmpty = text.trim() === '';
  return (
    <Stack
      component="form"
      gap={8}
      align="flex-end"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isEmpty) add.mutate();
      }}
    >
      <WordsField
        aria-label={t('noteField')}
        placeholder={t('noteField')}
        description={isEmpty ? undefined : t('noteHint')}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        value={text}
        onChange={setText}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) event.currentTarget.form?.requestSubmit();
        }}
        maxLength={2000}
        maxRows={10}
      />
      <FormProblem error={add.error} />
      {isEmpty ? null : (
        <Button type="submit" size="xs" loading={add.isPending}>
          {t('addNote')}
        </Button>
      )}
    </Stack>
  );
}
