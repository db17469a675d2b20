import { useNotifications } from '@mantine/notifications';
import { type ComponentType, useEffect, useState } from 'react';
import { useLate } from '../parts/use-late.ts';
import { identityQuestion, type Question, signInQuestion } from '../session/identity-questions.ts';

const loadNotifications = () => import('./notification-area.tsx');
const loadIdentityDialog = () => import('./identity-dialog.tsx');
const loadSessionExpiredDialog = () => import('./session-expired-dialog.tsx');

/** Shows notifications. Their code is loaded when the page is idle, or with the first notification. */
export function LateNotifications() {
  const Area = useLate(loadNotifications, useNotifications().notifications.length);
  return Area ? <Area /> : null;
}

/** The dialogs that a refused request opens. Their code is loaded when the page is idle, or when it is needed. */
export function LateDialogs() {
  return (
    <>
      <LateDialog question={identityQuestion} load={loadIdentityDialog} />
      <LateDialog question={signInQuestion} load={loadSessionExpiredDialog} />
    </>
  );
}

interface LateDialogProps {
  readonly question: Question;
  load(): Promise<{ readonly default: ComponentType<{ readonly isAsked: boolean }> }>;
}

function LateDialog({ question, load }: LateDialogProps) {
  const [isAsked, setAsked] = useState(false);
  useEffect(() => question.listen(setAsked), [question]);
  const Loaded = useLate(load, isAsked, () => question.settle(false));
  return Loaded ? <Loaded isAsked={isAsked} /> : null;
}
