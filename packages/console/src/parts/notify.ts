import { notifications } from '@mantine/notifications';
import { isProblem, isWaiting, Unreachable } from '../api/problem.ts';
import { dictionary } from '../i18n/dictionary.ts';
import { getLanguage } from '../i18n/language.ts';
import { problemText } from './problem-text.ts';

const texts = dictionary({
  saved: ['Saved', '已保存'],
  asBefore: ['No changes', '未作修改'],
  unreachable: ['The service does not answer', '服务无响应'],
  fault: ['The action failed. Request ID {requestId}', '操作失败，请求 ID {requestId}'],
});

/** Shows a notification that an action succeeded. */
export function notifyDone(message: string): void {
  notifications.show({ message, color: 'green', autoClose: 4000 });
}

/** Shows a notification that says whether saving changed anything. */
export function notifySaved(changed: boolean, saved = texts.now()('saved')): void {
  notifyDone(changed ? saved : texts.now()('asBefore'));
}

/** Shows a notification that an action failed, with the reason. Shows it only once if the reason is shown already. */
export function notifyProblem(error: unknown): void {
  const t = texts.now();
  const isFault = isProblem(error) && error.status >= 500;
  const message =
    error instanceof Unreachable || !(error instanceof Error)
      ? t('unreachable')
      : isFault
        ? t('fault', { requestId: error.requestId ?? '–' })
        : isProblem(error)
          ? problemText(error, getLanguage())
          : error.message;
  const id = isFault ? 'fault' : message;
  notifications.show({ id, message, color: isWaiting(error) ? 'yellow' : 'red', autoClose: 8000 });
}
