import { Button, Checkbox, Group, Modal, SimpleGrid, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { saveFile } from '../../api/client.ts';
import { useCommonTexts } from '../../i18n/common.ts';
import { dictionary } from '../../i18n/dictionary.ts';
import { DownloadIcon } from '../../icons/icons.tsx';
import { useLeaveGuard } from '../dialogs/use-leave-guard.ts';
import { Problem } from '../states.tsx';
import { Copyable } from '../values/copyable.tsx';
import { useOpenerFocus } from './opener-focus.ts';

const useTexts = dictionary({
  hint: ['Shown only once and never again. Store it in a safe place.', '仅显示一次，之后无法再次查看，请妥善保存。'],
  download: ['Download', '下载'],
  stored: ['I have stored it', '我已妥善保存'],
  held: [
    'You cannot leave this page yet, because the secrets would be lost. Store them, then press Done.',
    '离开后将无法再次查看密钥。请先保存，再点击“完成”。',
  ],
});

interface SecretsDialogProps {
  readonly title: string;
  readonly secrets: readonly (readonly [name: string, label: string, value: string])[];
  readonly fileName: string;
  /** Called on closing. The secrets are then lost, because only the dialog had them. */
  onClose(): void;
}

/** More secrets than this are shown in two columns, so that a desktop shows all of them with the buttons. */
const FEW = 4;

/** Shows secrets, which cannot be shown again. Closes only after the operator confirms that they are stored. */
export function SecretsDialog({ title, secrets, fileName, onClose }: SecretsDialogProps) {
  const t = useTexts();
  const common = useCommonTexts();
  const [isStored, setStored] = useState(false);
  const guard = useLeaveGuard();
  useOpenerFocus();
  const asText = () => secrets.map(([name, , value]) => `${name}=${value}\n`).join('');
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      size="lg"
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Stack gap={16}>
        <p>{t('hint')}</p>
        <SimpleGrid
          component="dl"
          cols={{ base: 1, sm: secrets.length > FEW ? 2 : 1 }}
          spacing={12}
          verticalSpacing={12}
        >
          {secrets.map(([name, label, value]) => (
            <div key={name}>
              <Text component="dt" fz="sm" fw={500} mb={3}>
                {label}
              </Text>
              <dd>
                <Copyable isWhole value={value} />
              </dd>
            </div>
          ))}
        </SimpleGrid>
        {guard.isHeld ? <Problem>{t('held')}</Problem> : null}
        <Checkbox label={t('stored')} checked={isStored} onChange={(event) => setStored(event.currentTarget.checked)} />
        <Group gap={8} justify="space-between">
          <Button
            variant="default"
            leftSection={<DownloadIcon size={16} />}
            onClick={() => saveFile(fileName, new Blob([asText()], { type: 'text/plain' }))}
          >
            {t('download')}
          </Button>
          <Button
            disabled={!isStored}
            onClick={() => {
              guard.release();
              onClose();
            }}
          >
            {common('done')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
