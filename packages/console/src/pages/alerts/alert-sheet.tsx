import { Button, Group, Stack } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { Alert, AlertAnswer } from '../../api/types.ts';
import { useAlertTexts } from '../../catalog/alert-kinds.ts';
import { useSaidText } from '../../i18n/use-said-text.ts';
import { CheckIcon, ChevronRightIcon } from '../../icons/icons.tsx';
import { Copyable } from '../../parts/copyable.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { notifyDone } from '../../parts/notify.ts';
import { OwnerPicker } from '../../parts/owner-picker.tsx';
import { Facts } from '../../parts/page.tsx';
import { placeAddress } from '../../parts/place-link.tsx';
import { Sheet, SheetButtons, SheetPart } from '../../parts/sheet.tsx';
import { FormProblem } from '../../parts/states.tsx';
import { Tag } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { WordsField } from '../../parts/words-field.tsx';
import { useMayDo } from '../../session/session.ts';
import styles from './alerts.module.css';
import { placeOfSubject } from './subject.ts';
import { useTexts } from './texts.ts';

interface AlertSheetProps {
  readonly kind: string | undefined;
  readonly subject: string | undefined;
  onClose(): void;
}

export function AlertSheet({ kind, subject, onClose }: AlertSheetProps) {
  const kindText = useAlertTexts();
  const isOpen = kind !== undefined && subject !== undefined;
  return (
    <Sheet isOpen={isOpen} title={kind === undefined ? '' : kindText.name(kind)} onClose={onClose}>
      {isOpen ? <OneAlert key={`${kind} ${subject}`} kind={kind} subject={subject} /> : null}
    </Sheet>
  );
}

/** Where it stands: nobody has dealt with it, somebody has put it aside, or its cause is gone. */
export function AlertState({ alert }: { readonly alert: Alert }) {
  const t = useTexts();
  if (alert.resolvedAt !== null) return <Tag tone="positive">{t('resolved')}</Tag>;
  if (alert.acknowledgedAt !== null) return <Tag tone="neutral">{t('acknowledged')}</Tag>;
  return <Tag tone="waiting">{t('isOpen')}</Tag>;
}

function OneAlert({ kind, subject }: { readonly kind: string; readonly subject: string }) {
  const t = useTexts();
  const saidText = useSaidText();
  const kindText = useAlertTexts();
  const mayAct = useMayDo(['support', 'finance']);
  const queries = useQueryClient();
  const named = { kind, subject };
  const found = useQuery({
    queryKey: ['/alerts', 'one', kind, subject],
    queryFn: ({ signal }) => api.get('/alerts/one', named, signal),
  });
  const reload = () => queries.invalidateQueries({ queryKey: ['/alerts'] });
  const acknowledge = useMutation({
    mutationFn: () => api.post('/alerts/acknowledge', named),
    onSuccess: () => {
      notifyDone(t('nowAcknowledged'));
      return reload();
    },
  });
  return (
    <Loaded query={found}>
      {({ alert, comments, messages }) => {
        const place = placeOfSubject(alert);
        const isOpen = alert.resolvedAt === null && alert.acknowledgedAt === null;
        return (
          <>
            <p>{saidText(alert.detail, alert.detailSaid)}</p>
            <Standing alert={alert} />
            <SheetButtons>
              {place === undefined ? null : (
                <Button
                  variant="default"
                  rightSection={<ChevronRightIcon size={14} />}
                  renderRoot={(props) => <Link {...props} {...placeAddress(place.to)} />}
                >
                  {t(place.what)}
                </Button>
              )}
              {mayAct && isOpen ? (
                <Button
                  leftSection={<CheckIcon size={16} />}
                  loading={acknowledge.isPending}
                  title={t('acknowledgeHint')}
                  onClick={() => acknowledge.mutate()}
                >
                  {t('acknowledge')}
                </Button>
              ) : null}
            </SheetButtons>
            <FormProblem error={acknowledge.error} />
            <Facts
              facts={[
                [t('subject'), <Copyable key="subject" value={subject} />],
                [
                  t('owner'),
                  <OwnerPicker
                    key="owner"
                    owner={alert.owner}
                    mayChange={mayAct}
                    onChange={async (owner) => {
                      await api.post('/alerts/owner', { ...named, owner });
                      await reload();
                    }}
                  />,
                ],
                [t('firstSeen'), <Time key="first" value={alert.firstSeenAt} as="full" />],
                [t('lastSeen'), <Time key="last" value={alert.lastSeenAt} as="full" />],
                [t('seen'), t('times', { count: alert.seen })],
              ]}
            />
            {kindText.meaning(kind) === undefined ? null : (
              <>
                <SheetPart title={t('meaning')}>
                  <p>{kindText.meaning(kind)}</p>
                </SheetPart>
                <SheetPart title={t('remedy')}>
                  <p>{kindText.remedy(kind)}</p>
                </SheetPart>
              </>
            )}
            <SheetPart title={t('comments')}>
              {comments.length === 0 && !mayAct ? <p className="quiet">{t('noComments')}</p> : null}
              <Stack component="ul" gap={12} mb={14}>
                {comments.map(({ author, at, text }) => (
                  <li key={`${at} ${author} ${text}`}>
                    <Group className="small" gap={8} align="stretch" wrap="nowrap">
                      <strong>{author}</strong>
                      <span className="quiet">
                        <Time value={at} as="ago" />
                      </span>
                    </Group>
                    <div className={styles.commentText}>{text}</div>
                  </li>
                ))}
              </Stack>
              {mayAct ? <NewComment named={named} onWritten={reload} /> : null}
            </SheetPart>
            <SheetPart title={t('messages')}>
              <Messages messages={messages} />
            </SheetPart>
          </>
        );
      }}
    </Loaded>
  );
}

/** Who has put it aside, or why it ended by itself. */
function Standing({ alert }: { readonly alert: Alert }) {
  const t = useTexts();
  const saidText = useSaidText();
  const { resolvedAt, resolvedBecause, resolvedSaid, acknowledgedAt, acknowledgedBy } = alert;
  if (resolvedAt !== null)
    return (
      <div className={styles.state} data-tone="positive">
        {resolvedBecause
          ? t('resolvedBecause', { because: saidText(resolvedBecause, resolvedSaid) })
          : t('resolvedPlain')}{' '}
        · <Time value={resolvedAt} />
      </div>
    );
  if (acknowledgedAt === null) return null;
  return (
    <div className={styles.state}>
      {t('acknowledgedBy', { name: acknowledgedBy ?? '' })} · <Time value={acknowledgedAt} />
    </div>
  );
}

interface NewCommentProps {
  readonly named: { readonly kind: string; readonly subject: string };
  onWritten(): Promise<unknown>;
}

function NewComment({ named, onWritten }: NewCommentProps) {
  const t = useTexts();
  const [text, setText] = useState('');
  const write = useMutation({
    mutationFn: () => api.post('/alerts/comments', { ...named, text: text.trim() }),
    onSuccess: () => {
      setText('');
      return onWritten();
    },
  });
  return (
    <Stack
      component="form"
      gap={8}
      align="flex-end"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== '') write.mutate();
      }}
    >
      <WordsField
        aria-label={t('write')}
        placeholder={t('write')}
        value={text}
        onChange={setText}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) event.currentTarget.form?.requestSubmit();
        }}
        maxLength={2000}
      />
      <FormProblem error={write.error} />
      <Button type="submit" variant="default" size="xs" disabled={text.trim() === ''} loading={write.isPending}>
        {t('send')}
      </Button>
    </Stack>
  );
}

const WAYS: Readonly<Record<string, 'webhook' | 'email'>> = { WEBHOOK: 'webhook', EMAIL: 'email' };
const NEWS: Readonly<Record<string, 'newsOpen' | 'newsStillOpen' | 'newsResolved'>> = {
  OPEN: 'newsOpen',
  STILL_OPEN: 'newsStillOpen',
  RESOLVED: 'newsResolved',
};

function Messages({ messages }: Pick<AlertAnswer, 'messages'>) {
  const t = useTexts();
  if (messages.length === 0) return <p className="quiet">{t('noMessages')}</p>;
  return (
    <ul className={styles.messages}>
      {messages.map(({ way, what, writtenAt, sentAt, failure }) => {
        const [wayText, news] = [WAYS[way], NEWS[what]];
        return (
          <li key={`${way} ${what} ${writtenAt}`}>
            <span>{wayText ? t(wayText) : way}</span>
            <span className="quiet">{news ? t(news) : what}</span>
            {sentAt === null ? <Tag tone={failure ? 'negative' : 'progress'}>{t('notSent')}</Tag> : null}
            <Time value={sentAt ?? writtenAt} />
            {failure && sentAt === null ? <span className={styles.failure}>{t('failed', { failure })}</span> : null}
          </li>
        );
      })}
    </ul>
  );
}
