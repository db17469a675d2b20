import { Stack, TextInput } from '@mantine/core';
import { useRef, useState } from 'react';
import { api } from '../../api/client.ts';
import type { Product } from '../../api/types.ts';
import { useCommonTexts } from '../../i18n/common.ts';
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx';
import { isAboutField, useFieldProblem } from '../../parts/fields/field-problem.ts';
import { changedTexts, useFields } from '../../parts/fields/fields.ts';
import { notifySaved } from '../../parts/notify.ts';
import { useTexts } from './texts.ts';

interface NamesDialogProps {
  readonly product: Product;
  onChanged(): void;
  onClose(): void;
}

const textsOf = ({ nameZh, nameEn }: Product) => ({ nameZh: nameZh ?? '', nameEn: nameEn ?? '' });

/** Changes the names that users see on the redemption page. */
export function NamesDialog({ product, onChanged, onClose }: NamesDialogProps) {
  const t = useTexts();
  const common = useCommonTexts();
  const fields = useRef<HTMLDivElement>(null);
  const { values, text } = useFields(() => textsOf(product));
  const [refused, setRefused] = useState<unknown>();
  const wrong = useFieldProblem(refused, fields);
  const changes = changedTexts(textsOf(product), values);
  const field = (name: keyof typeof values) => ({ label: t(name), error: wrong.at(name), ...text(name) });
  const submit = async () => {
    setRefused(undefined);
    const { productCode } = product;
    const { changed } = await api.put('/products/{productCode}/names', { productCode, ...changes });
    notifySaved(changed, t('namesSaved'));
    onChanged();
    onClose();
  };
  return (
    <FormDialog
      title={t('changeNames')}
      verb={common('save')}
      isIncomplete={changes === undefined}
      onClose={onClose}
      onSubmit={() =>
        submit().catch((error: unknown) => {
          if (!isAboutField(error)) throw error;
          setRefused(error);
        })
      }
    >
      <Stack ref={fields} gap={16}>
        <TextInput {...field('nameZh')} description={t('namesHint')} lang="zh" maxLength={500} />
        <TextInput {...field('nameEn')} description={t('namesHint')} lang="en" maxLength={500} />
      </Stack>
    </FormDialog>
  );
}
