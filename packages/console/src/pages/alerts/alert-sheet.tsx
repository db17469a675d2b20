import { Box, Button, Group, Stack } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api } from '../../api/client.ts';
import type { Alert, AlertAnswer } from '../../api/types.ts';
import { useAlertTexts } from '../../catalog/alert-kinds.ts';
import { CheckIcon, ChevronRightIcon } from '../../icons/icons.tsx';
import { Sheet, SheetButtons, SheetPart } from '../../parts/dialogs/sheet.tsx';
import { OwnerPicker } from '../../parts/fields/owner-picker.tsx';
import { TextForm } from '../../parts/fields/text-form.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { notifyDone } from '../../parts/notify.ts';
import { Facts } from '../../parts/page.tsx';
import { FormProblem } from '../../parts/states.tsx';
import { Copyable } from '../../parts/values/copyable.tsx';
import { placeAddress } from '../../parts/values/place-link.tsx';
import { Status, Tag } from '../../parts/values/status.tsx';
import { Time } from '../../parts/values/time.tsx';
import { useSaidText } from '../../parts/values/use-said-text.ts';
import { useMayDo } from '../../session/session.ts';
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

/** The state of an alert: open, acknowledged or resolved. */
export function AlertState({ alert }: { readonly alert: Alert }) {
  const t = useTexts();
  if (alert.resolvedAt !== null) return <Tag tone="positive">{t('resolved')}</Tag>;
  if (alert.acknowledgedAt !== null) return <Tag tone="neutral">{t('acknowledged')}</Tag>;
  return <Tag tone="waiting">{t('open')}</Tag>;
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
      notifyDone(t('acknowledged'));
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
                [t('severity'), <Status key="severity" of="severity" value={alert.severity} />],
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
                    <Group className="small" gap={8}>
                      <strong>{author}</strong>
                      <span className="quiet">
                        <Time value={at} as="ago" />
                      </span>
                    </Group>
                    <div style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>{text}</div>
                  </li>
                ))}
              </Stack>
              {mayAct ? (
                <TextForm
                  label={t('write')}
                  verb={t('send')}
                  onWrite={async (text) => {
                    await api.post('/alerts/comments', { ...named, text });
                    await reload();
                  }}
                />
              ) : null}
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

/** Shows who acknowledged the alert, or why it was resolved. */
function Standing({ alert }: { readonly alert: Alert }) {
  const t = useTexts();
  const saidText = useSaidText();
  const { resolvedAt, resolvedBecause, resolvedSaid, acknowledgedAt, acknowledgedBy } = alert;
  if (resolvedAt === null && acknowledgedAt === null) return null;
  const tone = resolvedAt === null ? 'neutral' : 'positive';
  const words =
    resolvedAt === null
      ? t('acknowledgedBy', { name: acknowledgedBy ?? '' })
      : resolvedBecause
        ? t('resolvedBecause', { because: saidText(resolvedBecause, resolvedSaid) })
        : t('resolvedPlain');
  return (
    <Box p="10px 12px" bdrs={8} c={`var(--${tone})`} bg={`var(--${tone}-soft)`}>
      {words} · <Time value={resolvedAt ?? acknowledgedAt} />
    </Box>
  );
}

function Messages({ messages }: Pick<AlertAnswer, 'messages'>) {
  const t = useTexts();
  // Transports and kinds of notifications that these pages do not know are shown by their codes.
  const text = t as (code: string) => string;
  if (messages.length === 0) return <p className="quiet">{t('noMessages')}</p>;
  return (
    <Stack component="ul" className="small" gap={6}>
      {messages.map(({ way, what, writtenAt, sentAt, failure }) => (
        <Group key={`${way} ${what} ${writtenAt}`} component="li" gap="2px 10px">
          <span>{text(way)}</span>
          <span className="quiet">{text(what)}</span>
          {sentAt === null ? <Tag tone={failure ? 'negative' : 'progress'}>{t('notSent')}</Tag> : null}
          <Box component="span" ml="auto">
            <Time value={sentAt ?? writtenAt} />
          </Box>
          {failure && sentAt === null ? (
            <Box component="span" w="100%" c="var(--negative)" style={{ overflowWrap: 'anywhere' }}>
              {t('failed', { failure })}
            </Box>
          ) : null}
        </Group>
      ))}
    </Stack>
  );
}
