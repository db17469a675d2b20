import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { places } from '../../address/places.ts';
import { api } from '../../api/client.ts';
import type { Push } from '../../api/types.ts';
import { RefreshIcon } from '../../icons/icons.tsx';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { Copyable } from '../../parts/copyable.tsx';
import { useEventTypeText } from '../../parts/event-type.ts';
import { JsonView } from '../../parts/json-view.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { countText } from '../../parts/money.tsx';
import { notifyDone } from '../../parts/notify.ts';
import { Facts } from '../../parts/page.tsx';
import { PlaceLink } from '../../parts/place-link.tsx';
import { Sheet, SheetButtons, SheetPart } from '../../parts/sheet.tsx';
import { Status } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { useMayDo } from '../../session/session.ts';
import { NextPush } from './backlog.tsx';
import styles from './events.module.css';
import { Outcome } from './outcome.tsx';
import { useTexts } from './texts.ts';

interface EventSheetProps {
  readonly appId: string;
  readonly eventId: string | undefined;
  onReplayed(): void;
  onClose(): void;
}

/** An event with every push of it, what was answered, and what is sent. */
export function EventSheet({ appId, eventId, onReplayed, onClose }: EventSheetProps) {
  const t = useTexts();
  return (
    <Sheet isOpen={eventId !== undefined} title={t('event')} onClose={onClose}>
      {eventId === undefined ? null : <OneEvent appId={appId} eventId={eventId} onReplayed={onReplayed} />}
    </Sheet>
  );
}

interface OneEventProps {
  readonly appId: string;
  readonly eventId: string;
  onReplayed(): void;
}

function OneEvent({ appId, eventId, onReplayed }: OneEventProps) {
  const t = useTexts();
  const typeText = useEventTypeText();
  const maySend = useMayDo('support');
  const queries = useQueryClient();
  const [isAsked, setAsked] = useState(false);
  const found = useQuery({
    queryKey: ['/events', appId, eventId],
    queryFn: ({ signal }) => api.get('/channels/{appId}/events/{eventId}', { appId, eventId }, signal),
  });
  return (
    <Loaded query={found}>
      {({ event, data, pushes, nextPushAt }) => (
        <>
          <Facts
            facts={[
              [t('status'), <Status key="status" of="delivery" value={event.deliveryStatus} />],
              [t('type'), typeText(event.eventType)],
              [
                t('order'),
                <Copyable key="order" value={event.orderNo}>
                  <PlaceLink to={places.order(event.orderNo)}>{event.orderNo}</PlaceLink>
                </Copyable>,
              ],
              [t('eventId'), <Copyable key="id" value={event.eventId} />],
              [t('occurred'), <Time key="occurred" value={event.occurredAt} as="full" />],
              [t('recorded'), <Time key="recorded" value={event.recordedAt} as="full" />],
              ...(event.lastEventId === null
                ? []
                : [[t('former'), <Copyable key="former" value={event.lastEventId} />] as const]),
              ...(nextPushAt === null ? [] : [[t('nextPush'), <NextPush key="next" at={nextPushAt} />] as const]),
            ]}
          />
          {maySend ? (
            <SheetButtons>
              <Button variant="default" leftSection={<RefreshIcon size={16} />} onClick={() => setAsked(true)}>
                {t('replay')}
              </Button>
            </SheetButtons>
          ) : null}
          <SheetPart title={t('pushesAndAnswers')}>
            {pushes.length === 0 ? (
              <p className="quiet">{t('notPushed')}</p>
            ) : (
              <ol>
                {pushes.map((push) => (
                  <PushLine key={`${push.at} ${push.retryNo}`} push={push} />
                ))}
              </ol>
            )}
          </SheetPart>
          <SheetPart title={t('payload')}>
            <JsonView value={data} />
            <p className="quiet">{t('payloadHint')}</p>
          </SheetPart>
          <ConfirmDialog
            isOpen={isAsked}
            title={t('replayTitle', { count: 1 })}
            verb={t('replay')}
            onConfirm={async () => {
              const { replayed } = await api.post('/channels/{appId}/events/replay', { appId, eventIds: [eventId] });
              notifyDone(t('replayed', { count: replayed }));
              void queries.invalidateQueries({ queryKey: ['/events', appId, eventId] });
              onReplayed();
            }}
            onClose={() => setAsked(false)}
          >
            <p>{t('replayHint')}</p>
          </ConfirmDialog>
        </>
      )}
    </Loaded>
  );
}

function PushLine({ push }: { readonly push: Push }) {
  const t = useTexts();
  const { at, outcome, retryNo, httpStatus, latencyMs, answer } = push;
  return (
    <li className={styles.push} data-accepted={outcome === 'ACCEPTED' || undefined}>
      <div className={styles.pushTop}>
        <Outcome value={outcome} />
        <span>{retryNo === 0 ? t('firstTry') : t('retry', { no: retryNo })}</span>
        <span className="quiet figures">
          {httpStatus === null ? '' : `HTTP ${httpStatus} · `}
          {t('milliseconds', { count: countText(latencyMs) })}
        </span>
        <Time value={at} />
      </div>
      {answer ? <span className={`mono quiet ${styles.answer}`}>{answer}</span> : null}
    </li>
  );
}
