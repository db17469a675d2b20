import { Button, Group, Stack, Textarea, TextInput } from '@mantine/core';
import { useRef, useState } from 'react';
import { api } from '../../api/client.ts';
import type { Benefit } from '../../api/types.ts';
import { useCommonTexts } from '../../i18n/common.ts';
import { useLanguage } from '../../i18n/language.ts';
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx';
import { SheetPart } from '../../parts/dialogs/sheet.tsx';
import { isAboutField, useFieldProblem } from '../../parts/fields/field-problem.ts';
import { ADDRESS, changedTexts, useFields } from '../../parts/fields/fields.ts';
import { type PictureChange, PictureField } from '../../parts/fields/picture-field.tsx';
import { notifySaved } from '../../parts/notify.ts';
import { Facts } from '../../parts/page.tsx';
import { Copyable } from '../../parts/values/copyable.tsx';
import { PictureBox, useStoredPicture } from '../../parts/values/picture.tsx';
import { useTexts } from './presentation-texts.ts';

type Presentation = Benefit['presentation'];

/** Returns the description in the page's language. If there is none, returns the description in the other language. */
export function useDescription({ descriptionZh, descriptionEn }: Presentation): string | null {
  return useLanguage() === 'zh' ? (descriptionZh ?? descriptionEn) : (descriptionEn ?? descriptionZh);
}

interface PresentationPartProps {
  readonly presentation: Presentation;
  /** Opens the form. Undefined if the operator's role does not allow changes. */
  readonly onChange: (() => void) | undefined;
}

/** Shows in a benefit's sheet how users see the benefit. */
export function PresentationPart({ presentation, onChange }: PresentationPartProps) {
  const t = useTexts();
  const stored = useStoredPicture(presentation.icon);
  const { nameZh, nameEn, descriptionZh, descriptionEn, useUrl } = presentation;
  const isNothing = Object.values(presentation).every((part) => part === null);
  return (
    <SheetPart title={t('title')}>
      <Stack gap={12} align="flex-start">
        {isNothing ? (
          <p className="quiet">{t('none')}</p>
        ) : (
          <Group gap={16} align="flex-start" wrap="nowrap" miw={0}>
            <PictureBox ofBenefit {...stored} />
            <Facts
              facts={[
                [t('nameZh'), nameZh ?? '–'],
                [t('nameEn'), nameEn ?? '–'],
                [t('descriptionZh'), descriptionZh ?? '–'],
                [t('descriptionEn'), descriptionEn ?? '–'],
                [t('useUrl'), useUrl === null ? '–' : <Copyable key="url" value={useUrl} />],
              ]}
            />
          </Group>
        )}
        {onChange ? (
          <Button variant="default" onClick={onChange}>
            {t('change')}
          </Button>
        ) : null}
      </Stack>
    </SheetPart>
  );
}

const textsOf = ({ nameZh, nameEn, descriptionZh, descriptionEn, useUrl }: Presentation) => ({
  nameZh: nameZh ?? '',
  nameEn: nameEn ?? '',
  descriptionZh: descriptionZh ?? '',
  descriptionEn: descriptionEn ?? '',
  useUrl: useUrl ?? '',
});

interface PresentationDialogProps {
  readonly benefit: Benefit;
  onChanged(): void;
  onClose(): void;
}

export function PresentationDialog({ benefit, onChanged, onClose }: PresentationDialogProps) {
  const { benefitCode, presentation } = benefit;
  const t = useTexts();
  const common = useCommonTexts();
  const fields = useRef<HTMLDivElement>(null);
  const [icon, setIcon] = useState<PictureChange>();
  const { values, text } = useFields(() => textsOf(presentation));
  const [refused, setRefused] = useState<unknown>();
  const wrong = useFieldProblem(refused, fields);
  const changes = changedTexts(textsOf(presentation), values);
  const field = (name: keyof typeof values) => ({ label: t(name), error: wrong.at(name), ...text(name) });
  const submit = async () => {
    setRefused(undefined);
    const { changed } = await api.put('/benefits/{benefitCode}/presentation', {
      benefitCode,
      ...changes,
      ...(icon === undefined ? {} : { icon: icon?.base64 ?? null }),
    });
    notifySaved(changed, t('saved'));
    onChanged();
    onClose();
  };
  return (
    <FormDialog
      title={t('changeTitle', { code: benefitCode })}
      verb={common('save')}
      isIncomplete={changes === undefined && icon === undefined}
      onClose={onClose}
      onSubmit={() =>
        submit().catch((error: unknown) => {
          if (!isAboutField(error)) throw error;
          setRefused(error);
        })
      }
    >
      <Stack ref={fields} gap={16}>
        <PictureField
          label={t('icon')}
          description={t('iconHint')}
          stored={presentation.icon}
          change={icon}
          ofBenefit
          error={wrong.at('picture')}
          onChange={(picture) => {
            setIcon(picture);
            setRefused(undefined);
          }}
        />
        <TextInput {...field('nameZh')} description={t('nameHint')} lang="zh" maxLength={500} />
        <TextInput {...field('nameEn')} description={t('nameHint')} lang="en" maxLength={500} />
        <Textarea {...field('descriptionZh')} description={t('descriptionHint')} lang="zh" maxLength={500} autosize />
        <Textarea {...field('descriptionEn')} description={t('descriptionHint')} lang="en" maxLength={500} autosize />
        <TextInput {...field('useUrl')} description={t('useUrlHint')} {...ADDRESS} />
      </Stack>
    </FormDialog>
  );
}
