import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { RefreshIcon } from '../../icons/icons.tsx';
import { Sheet, SheetButtons, SheetPart } from '../../parts/dialogs/sheet.tsx';
import { known, OrderLink } from '../../parts/lists/list-parts.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Facts } from '../../parts/page.tsx';
import { Copyable } from '../../parts/values/copyable.tsx';
import { useEventTypeText } from '../../parts/values/event-type.ts';
import { JsonView } from '../../parts/values/json-view.tsx';
import { countText } from '../../parts/values/money.tsx';
import { Status } from '../../parts/values/status.tsx';
import { Time } from '../../parts/values/time.tsx';
import { useMayDo } from '../../session/session.ts';
import { NextPush } from './backlog.tsx';
import { Outcome, PushLine } from './pushes.tsx';
import { ReplayDialog } from './replay-dialog.tsx';
import { useTexts } from './texts.ts';

interface EventSheetProps {
  readonly appId: string;
  readonly eventId: string | undefined;
  onClose(): void;
}

/** Shows an event with its payload, its pushes and their answers. */
export function EventSheet({ appId, eventId, onClose }: EventSheetProps) {
  const t = useTexts();
  return (
    <Sheet isOpen={eventId !== undefined} title={t('event')} onClose={onClose}>
      {eventId === undefined ? null : <OneEvent appId={appId} eventId={eventId} />}
    </Sheet>
  );
}

function OneEvent({ appId, eventId }: { readonly appId: string; readonly eventId: string }) {
  const t = useTexts();
  const typeText = useEventTypeText();
  const maySend = useMayDo('support');
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
            facts={known([
              [t('status'), <Status key="status" of="delivery" value={event.deliveryStatus} />],
              [t('type'), typeText(event.eventType)],
              [
                t('order'),
                <Copyable key="order" value={event.orderNo}>
                  <OrderLink orderNo={event.orderNo} />
                </Copyable>,
              ],
              [t('eventId'), <Copyable key="id" value={event.eventId} />],
              [t('occurred'), <Time key="occurred" value={event.occurredAt} as="full" />],
              [t('recorded'), <Time key="recorded" value={event.recordedAt} as="full" />],
              [t('former'), event.lastEventId && <Copyable key="former" value={event.lastEventId} />],
              [t('nextPush'), nextPushAt && <NextPush key="next" at={nextPushAt} />],
            ])}
          />
          {maySend ? (
            <SheetButtons>
              <Button variant="default" leftSection={<RefreshIcon size={16} />} onClick={() => setAsked(true)}>
                {t('replay')}
              </Button>
            </SheetButtons>
          ) : null}
          <SheetPart title={t('pushesAndAnswers')}>
            {pushes.length === 0 ? <p className="quiet">{t('notPushed')}</p> : null}
            <ol>
              {pushes.map(({ at, outcome, retryNo, httpStatus, latencyMs, answer }) => {
                const about = [
                  retryNo === 0 ? t('firstTry') : t('retry', { no: retryNo }),
                  ...(httpStatus === null ? [] : [`HTTP ${httpStatus}`]),
                  t('milliseconds', { count: countText(latencyMs) }),
                ].join(' · ');
                return (
                  <PushLine key={`${at} ${retryNo}`} outcome={outcome} about={about} at={at} answer={answer}>
                    <Outcome value={outcome} />
                  </PushLine>
                );
              })}
            </ol>
          </SheetPart>
          <SheetPart title={t('payload')}>
            <JsonView value={data} />
            <p className="quiet">{t('payloadHint')}</p>
          </SheetPart>
          {isAsked ? <ReplayDialog appId={appId} eventIds={[eventId]} onClose={() => setAsked(false)} /> : null}
        </>
      )}
    </Loaded>
  );
}
