import { Button, Menu } from '@mantine/core';
import { useState } from 'react';
import type { OrderAction, OrderAnswer } from '../../api/order-types.ts';
import { ChevronDownIcon, RefreshIcon, WalletIcon } from '../../icons/icons.tsx';
import { useMayDo } from '../../session/session.ts';
import { CancelAgreementDialog, RetryDialog, UnsubscribeDialog } from './dialogs.tsx';
import { RefundDialog } from './refunds/refund-dialog.tsx';
import { WaitingRefunds } from './refunds/waiting-refunds.tsx';
import { useTexts } from './texts.ts';

/** The actions that the order's state and the operator's role allow. Actions that end something are in a menu. */
export function OrderActions({ shown, period }: { readonly shown: OrderAnswer; readonly period: string | undefined }) {
  const t = useTexts();
  const [task, setTask] = useState<OrderAction>();
  const { order, waitingRefunds } = shown;
  const mayRefund = useMayDo('finance');
  const allowed = shown.actions.filter(({ isAllowed }) => isAllowed);
  const find = (action: OrderAction['action']) => allowed.find((one) => one.action === action);
  const retry = find('retry');
  // The latest period comes first, because it is refunded most often. The dialog offers the period that the address names.
  const refunds = allowed
    .filter(({ action }) => action === 'refund')
    .toSorted((a, b) => (b.cycleNo ?? 0) - (a.cycleNo ?? 0));
  const refund = refunds.find(({ cycleNo }) => String(cycleNo) === period) ?? refunds[0];
  const endings = [find('unsubscribe'), find('cancel-agreement')].filter((one) => one !== undefined);
  const close = () => setTask(undefined);
  return (
    <>
      {retry ? (
        <Button variant="default" leftSection={<RefreshIcon size={16} />} onClick={() => setTask(retry)}>
          {t('retry')}
        </Button>
      ) : null}
      {refund ? (
        <Button variant="default" leftSection={<WalletIcon size={16} />} onClick={() => setTask(refund)}>
          {t(mayRefund ? 'refund' : 'requestRefund')}
        </Button>
      ) : waitingRefunds.length > 0 ? (
        <WaitingRefunds refunds={waitingRefunds} />
      ) : null}
      {endings.length > 0 ? (
        <Menu position="bottom-end">
          <Menu.Target>
            <Button variant="default" rightSection={<ChevronDownIcon size={16} />}>
              {t('more')}
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {endings.map((ending) => (
              <Menu.Item key={ending.action} color="red" onClick={() => setTask(ending)}>
                {ending.action === 'unsubscribe' ? t('unsubscribe') : t('cancelAgreement')}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      ) : null}
      {task?.action === 'retry' ? <RetryDialog order={order} cycleNo={task.cycleNo ?? 1} onClose={close} /> : null}
      {task?.action === 'refund' ? (
        <RefundDialog shown={shown} choices={refunds} cycleNo={task.cycleNo ?? 1} onClose={close} />
      ) : null}
      {task?.action === 'unsubscribe' ? <UnsubscribeDialog order={order} onClose={close} /> : null}
      {task?.action === 'cancel-agreement' ? <CancelAgreementDialog order={order} onClose={close} /> : null}
    </>
  );
}
