import { Button, Group, Stack } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { Benefit } from '../../api/order-types.ts';
import { dictionary } from '../../i18n/dictionary.ts';
import { ConfirmDialog } from '../../parts/dialogs/confirm-dialog.tsx';
import { Dialog } from '../../parts/dialogs/dialog.tsx';
import { ReasonDialog } from '../../parts/dialogs/reason-dialog.tsx';
import { notifyDone } from '../../parts/notify.ts';
import { Copyable } from '../../parts/values/copyable.tsx';
import { BEIJING, momentOf, timeText } from '../../parts/values/time-text.ts';
import { useMayDo } from '../../session/session.ts';

const useTexts = dictionary({
  issued: ['Issued {time}', '{time} 发码'],
  never: ['Not shown yet', '用户尚未查看'],
  once: ['Shown {time}', '用户于 {time} 查看'],
  often: ['Shown {first}, last {last}', '首次查看 {first}，最近 {last}'],
  replaced: ['Replaced {count} time|Replaced {count} times', '已换码 {count} 次'],
  reveal: ['Show code', '查看码'],
  hide: ['Hide', '隐藏'],
  replace: ['Replace…', '换码…'],
  revealTitle: ['Show the code of {name}?', '查看“{name}”的兑换码？'],
  revealHint: [
    'Anyone who has the code can use it. This and your reason are recorded in the audit log and on the timeline.',
    '持有兑换码即可使用。查看记录与原因会写入审计日志和时间线。',
  ],
  show: ['Show', '查看'],
  replaceTitle: ['Replace the code of {name}?', '更换“{name}”的兑换码？'],
  replaceHint: [
    'The current code disappears from the user’s page, and a new code of the same kind takes its place. The user keeps the same link.',
    '当前兑换码将从用户页面移除，并换发同来源的新码。用户的链接不变。',
  ],
  GENERATED: [
    'Check first that the current code was not used: whoever accepts the codes may still accept it.',
    '请先确认当前码未被使用：核销方可能仍会接受旧码。',
  ],
  POOL: [
    'The new code is the next code of the imported list. Report the current code to its issuer, which may still accept it.',
    '新码取自已导入的码池。请将旧码告知发码方，否则旧码可能仍可使用。',
  ],
  SUPPLIER: [
    'The supplier is asked for a new code, and is told which code it replaces. It may take a few seconds.',
    '将向供应商申请新码，并告知其所替换的旧码，可能需要几秒。',
  ],
  replaceVerb: ['Replace code', '换码'],
  replacedDone: ['The code was replaced', '已换码'],
  replacedWaits: ['The code was taken back; the new one is on its way', '旧码已收回，新码待发'],
  replacedBefore: ['The code was already replaced', '该码已换过'],
  link: ['Redemption link…', '兑换链接…'],
  linkTitle: ['Create a redemption link?', '生成兑换链接？'],
  linkHint: [
    'Send it only to the user of this order. Whoever has the link can claim the benefits and see the codes. Creating it is recorded in the audit log.',
    '请仅发送给该订单的用户。持有链接即可领取权益并查看兑换码。生成记录会写入审计日志。',
  ],
  create: ['Create link', '生成链接'],
  linkDone: ['Redemption link', '兑换链接'],
  linkValid: ['Valid until {time}. Earlier links of the user keep working.', '有效期至 {time}，此前的链接仍然有效。'],
});

const timeOf = (time: string): string => timeText(momentOf(time), BEIJING);

/** Reloads the order, because its timeline and its codes have changed. */
function useReload(): () => void {
  const queries = useQueryClient();
  return () => void queries.invalidateQueries({ queryKey: ['/orders'] });
}

interface CodeCellProps {
  readonly orderNo: string;
  readonly benefit: Benefit;
}

/** When a code was issued and shown to the user, with the actions on it. */
export function CodeCell({ orderNo, benefit }: CodeCellProps) {
  const t = useTexts();
  const mayAct = useMayDo('support');
  const reload = useReload();
  const [task, setTask] = useState<'reveal' | 'replace'>();
  const [revealed, setRevealed] = useState<string>();
  const { name, claimNo, codeStatus, codeSource, codesReplaced } = benefit;
  const { codeIssuedAt: issuedAt, codeFirstShownAt: first, codeLastShownAt: last } = benefit;
  if (claimNo === null || codeStatus === null) return <span className="quiet">–</span>;
  const close = () => setTask(undefined);
  return (
    <Stack gap={2} align="flex-start">
      {revealed === undefined ? null : <Copyable value={revealed} />}
      {issuedAt === null ? null : (
        <>
          <span className="tiny quiet">{t('issued', { time: timeOf(issuedAt) })}</span>
          <span className="tiny quiet">
            {first === null || last === null
              ? t('never')
              : first === last
                ? t('once', { time: timeOf(first) })
                : t('often', { first: timeOf(first), last: timeOf(last) })}
          </span>
        </>
      )}
      {codesReplaced > 0 ? <span className="tiny">{t('replaced', { count: codesReplaced })}</span> : null}
      {mayAct && codeStatus === 'FULFILLED' ? (
        <Group gap={4} ml={-8} wrap="nowrap">
          <Button
            variant="subtle"
            size="compact-xs"
            onClick={() => (revealed === undefined ? setTask('reveal') : setRevealed(undefined))}
          >
            {t(revealed === undefined ? 'reveal' : 'hide')}
          </Button>
          <Button variant="subtle" size="compact-xs" onClick={() => setTask('replace')}>
            {t('replace')}
          </Button>
        </Group>
      ) : null}
      {task === 'reveal' ? (
        <ReasonDialog
          title={t('revealTitle', { name })}
          verb={t('show')}
          onClose={close}
          onConfirm={async (reason) => {
            const { code } = await api.post('/orders/{orderNo}/claims/{claimNo}/reveal', { orderNo, claimNo, reason });
            setRevealed(code);
            reload();
          }}
        >
          <p>{t('revealHint')}</p>
        </ReasonDialog>
      ) : null}
      {task === 'replace' ? (
        <ReasonDialog
          isDangerous
          title={t('replaceTitle', { name })}
          verb={t('replaceVerb')}
          onClose={close}
          onConfirm={async (reason) => {
            const { changed, status } = await api.post('/orders/{orderNo}/claims/{claimNo}/replace', {
              ...{ orderNo, claimNo, reason, replaced: codesReplaced },
            });
            setRevealed(undefined);
            notifyDone(t(changed ? (status === 'PENDING' ? 'replacedWaits' : 'replacedDone') : 'replacedBefore'));
            reload();
          }}
        >
          <p>{t('replaceHint')}</p>
          {codeSource === null ? null : <p className="quiet">{t(codeSource)}</p>}
        </ReasonDialog>
      ) : null}
    </Stack>
  );
}

/** Creates a fresh redemption link and shows it once, to be copied. */
export function RedemptionLinkButton({ orderNo }: { readonly orderNo: string }) {
  const t = useTexts();
  const mayAct = useMayDo('support');
  const reload = useReload();
  const [isAsking, setAsking] = useState(false);
  const [link, setLink] = useState<{ readonly url: string; readonly expiresAt: string }>();
  if (!mayAct) return null;
  return (
    <>
      <Button variant="default" size="xs" onClick={() => setAsking(true)}>
        {t('link')}
      </Button>
      <ConfirmDialog
        isOpen={isAsking}
        title={t('linkTitle')}
        verb={t('create')}
        onClose={() => setAsking(false)}
        onConfirm={async () => {
          setLink(await api.post('/orders/{orderNo}/redemption-link', { orderNo }));
          reload();
        }}
      >
        <p>{t('linkHint')}</p>
      </ConfirmDialog>
      {link ? (
        <Dialog isOpen onClose={() => setLink(undefined)} title={t('linkDone')}>
          <Stack gap={12}>
            <Copyable isWhole value={link.url} />
            <p className="quiet small">{t('linkValid', { time: timeOf(link.expiresAt) })}</p>
          </Stack>
        </Dialog>
      ) : null}
    </>
  );
}
