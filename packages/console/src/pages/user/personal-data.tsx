import { Button, Stack, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useFilters } from '../../address/filters.ts';
import { api, saveFile } from '../../api/client.ts';
import { dictionary } from '../../i18n/dictionary.ts';
import { DownloadIcon } from '../../icons/icons.tsx';
import { ReasonDialog } from '../../parts/dialogs/reason-dialog.tsx';
import { notifyDone, notifyProblem } from '../../parts/notify.ts';
import { useOrderChanged } from '../order/dialogs.tsx';
import { USER_FILTERS } from './filters.ts';

const useTexts = dictionary({
  changeMobile: ['Change mobile number', '变更手机号'],
  mobileTitle: ['Change the mobile number of {id}?', '变更 {id} 的手机号？'],
  mobileHint: [
    'The channel must send the new number from now on. Users confirm a cancellation with its last four digits. In production a second operator of support or an admin approves the change.',
    '变更后渠道须传新手机号，用户退订时须验证新手机号后四位。生产环境须由另一位客服或管理员审批。',
  ],
  newMobile: ['New mobile number', '新手机号'],
  mobileChanged: ['Mobile number changed', '手机号已变更'],
  export: ['Export data', '导出个人信息'],
  exported: ['Personal data exported. Delete the file when you no longer need it.', '已导出个人信息，使用后请删除文件'],
  erase: ['Erase data', '删除个人信息'],
  eraseTitle: ['Erase the personal data of {id}?', '删除 {id} 的个人信息？'],
  eraseHint: [
    'Mobile number, card data, notes and reasons are deleted. Orders, payments and refunds stay for accounting, under a random user ID. This cannot be undone.',
    '将删除手机号、银行卡信息、备注和各项原因；订单、扣款和退款作为账务记录保留，用户 ID 替换为随机值。此操作不可撤销。',
  ],
  erased: [
    'Personal data erased; {count} order kept|Personal data erased; {count} orders kept',
    '已删除个人信息，保留 {count} 个订单',
  ],
});

interface PersonalDataProps {
  readonly appId: string;
  readonly channelUserId: string;
}

/** A button that binds the user to another mobile number. For support. */
export function ChangeMobile({ appId, channelUserId }: PersonalDataProps) {
  const t = useTexts();
  const changed = useOrderChanged();
  const [isOpen, setOpen] = useState(false);
  const [typed, setMobile] = useState('');
  const mobile = typed.normalize('NFKC').replaceAll(/[\s\p{Cf}().-]/gu, '');
  const close = () => {
    setOpen(false);
    setMobile('');
  };
  return (
    <>
      <Button variant="default" onClick={() => setOpen(true)}>
        {t('changeMobile')}
      </Button>
      {isOpen ? (
        <ReasonDialog
          title={t('mobileTitle', { id: channelUserId })}
          verb={t('changeMobile')}
          isIncomplete={!/^\+?\d{5,20}$/.test(mobile)}
          onClose={close}
          onConfirm={async (reason) => {
            await api.post('/users/mobile', { appId, channelUserId, mobile, reason });
            notifyDone(t('mobileChanged'));
            changed();
          }}
        >
          <Stack gap={12}>
            <p>{t('mobileHint')}</p>
            <TextInput
              label={t('newMobile')}
              data-autofocus
              value={typed}
              onChange={(event) => setMobile(event.currentTarget.value)}
              inputMode="tel"
              autoComplete="off"
              spellCheck={false}
            />
          </Stack>
        </ReasonDialog>
      ) : null}
    </>
  );
}

/** Buttons that export and erase a user's personal data. For admins. */
export function PersonalData({ appId, channelUserId }: PersonalDataProps) {
  const t = useTexts();
  const filters = useFilters(USER_FILTERS);
  const changed = useOrderChanged();
  const [isErasing, setErasing] = useState(false);
  const save = useMutation({
    mutationFn: () => api.post('/users/export', { appId, channelUserId }),
    onSuccess: (data) => {
      saveFile('user.json', new Blob([JSON.stringify(data, null, 2)], { type: 'application/json' }));
      notifyDone(t('exported'));
    },
    onError: notifyProblem,
  });
  return (
    <>
      <Button
        variant="default"
        leftSection={<DownloadIcon size={16} />}
        loading={save.isPending}
        onClick={() => save.mutate()}
      >
        {t('export')}
      </Button>
      <Button variant="default" c="var(--negative)" onClick={() => setErasing(true)}>
        {t('erase')}
      </Button>
      {isErasing ? (
        <ReasonDialog
          isDangerous
          title={t('eraseTitle', { id: channelUserId })}
          verb={t('erase')}
          onClose={() => setErasing(false)}
          onConfirm={async (reason) => {
            const { orders } = await api.post('/users/erase', { appId, channelUserId, reason });
            notifyDone(t('erased', { count: orders }));
            filters.set({ appId: '', channelUserId: '' });
            changed();
          }}
        >
          {t('eraseHint')}
        </ReasonDialog>
      ) : null}
    </>
  );
}
