import { Stack } from '@mantine/core';
import { api } from '../../api/client.ts';
import type { OrderAnswer } from '../../api/order-types.ts';
import { joinNames } from '../../i18n/language.ts';
import { TextForm } from '../../parts/fields/text-form.tsx';
import { notifyDone } from '../../parts/notify.ts';
import { Section } from '../../parts/page.tsx';
import { Time } from '../../parts/values/time.tsx';
import { useMayDo } from '../../session/session.ts';
import { useOrderChanged } from './dialogs.tsx';
import { useTexts } from './texts.ts';

/** Notes for other operators. The timeline shows them too. */
export function NotesSection({ shown }: { readonly shown: OrderAnswer }) {
  const t = useTexts();
  const changed = useOrderChanged();
  const mayWrite = useMayDo(['support', 'finance']);
  const { orderNo } = shown.order;
  const notes = shown.timeline.filter(({ kind }) => kind === 'note');
  return (
    <Section title={t('notes')}>
      {notes.length === 0 ? <p className="quiet small">{t('noNotes')}</p> : null}
      <Stack component="ul" gap={12}>
        {notes.map(({ at, actor, detail, data }) => (
          <li key={JSON.stringify(data)}>
            <p style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>{detail}</p>
            <span className="quiet tiny">
              {actor} · <Time value={at} />
            </span>
          </li>
        ))}
      </Stack>
      {mayWrite ? (
        <TextForm
          label={t('noteField')}
          hint={t('noteHint')}
          verb={t('addNote')}
          onWrite={async (text) => {
            const { mentioned } = await api.post('/orders/{orderNo}/notes', { orderNo, text });
            if (mentioned.length > 0) notifyDone(t('notified', { names: joinNames(mentioned) }));
            changed();
          }}
        />
      ) : null}
    </Section>
  );
}
