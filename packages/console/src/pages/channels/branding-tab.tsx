import { ColorInput, SimpleGrid, Text, TextInput } from '@mantine/core';
import { measureTones } from '@perennial/service/tones';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { channelQuery } from '../../api/catalog.ts';
import { api } from '../../api/client.ts';
import type { Branding, BrandingChange } from '../../api/types.ts';
import { useFieldProblem } from '../../parts/fields/field-problem.ts';
import { ADDRESS, changedTexts, useFields } from '../../parts/fields/fields.ts';
import { type PictureChange, PictureField, useShownPicture } from '../../parts/fields/picture-field.tsx';
import { notifySaved } from '../../parts/notify.ts';
import { Hint, Section } from '../../parts/page.tsx';
import { useMayDo } from '../../session/session.ts';
import { BrandingPreview } from './branding-preview.tsx';
import { useTexts } from './branding-texts.ts';
import { ChannelForm } from './channel-form.tsx';
import { type ChannelTabProps, useTakeChannel } from './use-change.ts';

/** The values as typed. */
const textsOf = (branding: Branding) => ({
  displayName: branding.displayName ?? '',
  accent: branding.accent === null ? '' : `#${branding.accent}`,
  support: branding.support ?? '',
  termsUrl: branding.termsUrl ?? '',
  shopUrl: branding.shopUrl ?? '',
});

/** Returns the colour as six digits for the preview, or undefined if the text is not a colour. */
function readAccent(text: string): string | undefined {
  const [, digits = ''] = /^#?([\da-f]{6}|[\da-f]{3})$/i.exec(text.trim()) ?? [];
  if (digits === '') return undefined;
  return (digits.length === 3 ? digits.replaceAll(/./g, '$&$&') : digits).toLowerCase();
}

/** Edits how users see a channel, with a preview. */
export function BrandingTab({ channel }: ChannelTabProps) {
  const t = useTexts();
  const isAdmin = useMayDo('admin');
  const form = useRef<HTMLDivElement>(null);
  const { values, set, text, value } = useFields(() => textsOf(channel.branding));
  const [logo, setLogo] = useState<PictureChange>();
  const save = useBrandingChange(channel.appId);
  const wrong = useFieldProblem(save.error, form);
  const changes = changedTexts(textsOf(channel.branding), values);
  const accent = readAccent(values.accent);
  const shownLogo = useShownPicture(channel.branding.logo, logo);
  const field = (name: keyof typeof values) => ({
    label: t(name),
    error: wrong.at(name),
    readOnly: !isAdmin,
    ...text(name),
  });
  return (
    <SimpleGrid ref={form} cols={{ base: 1, md: 2 }} spacing={48} verticalSpacing={32}>
      <ChannelForm
        change={{ error: wrong.elsewhere, isPending: save.isPending }}
        isIdle={changes === undefined && logo === undefined}
        instead={t('onlyAdmin')}
        onSave={() =>
          save.mutate(
            { ...changes, ...(logo === undefined ? {} : { logo: logo?.base64 ?? null }) },
            {
              onSuccess: ({ branding }) => {
                set(textsOf(branding));
                setLogo(undefined);
              },
            },
          )
        }
      >
        <Hint>{t('hint')}</Hint>
        <TextInput
          {...field('displayName')}
          description={t('displayNameHint', { name: channel.name })}
          placeholder={channel.name}
          maxLength={200}
        />
        <PictureField
          label={t('logo')}
          description={t('logoHint')}
          stored={channel.branding.logo}
          change={logo}
          isReadOnly={!isAdmin}
          error={wrong.at('picture')}
          onChange={(picture) => {
            setLogo(picture);
            save.reset();
          }}
        />
        <div>
          <ColorInput
            {...field('accent')}
            {...value('accent')}
            description={t('accentHint')}
            classNames={{ input: 'mono' }}
            maxLength={20}
            fixOnBlur={false}
            withEyeDropper={false}
          />
          <AccentNote accent={accent} />
        </div>
        <TextInput {...field('support')} description={t('supportHint')} maxLength={500} spellCheck={false} />
        <TextInput {...field('termsUrl')} {...ADDRESS} description={t('termsUrlHint')} />
        <TextInput {...field('shopUrl')} {...ADDRESS} description={t('shopUrlHint')} />
      </ChannelForm>
      <Section title={t('preview')}>
        <BrandingPreview
          name={values.displayName.trim() || channel.name}
          support={values.support.trim()}
          termsUrl={values.termsUrl.trim()}
          shopUrl={values.shopUrl.trim()}
          accent={accent}
          logo={shownLogo}
        />
      </Section>
    </SimpleGrid>
  );
}

/** If the accent colour is illegible as text, says which colour is used for text instead. */
function AccentNote({ accent }: { readonly accent: string | undefined }) {
  const t = useTexts();
  if (accent === undefined) return null;
  const shown = measureTones(accent).filter(({ tone, colour }) => tone === 'accent-ink' && colour !== `#${accent}`);
  return shown.map(({ theme, colour }) => (
    <Text key={theme} mt={4} fz="xs" c="dimmed">
      {t(theme === 'light' ? 'darkened' : 'lightened', { colour })}
    </Text>
  ));
}

function useBrandingChange(appId: string) {
  const t = useTexts();
  const queries = useQueryClient();
  const take = useTakeChannel();
  return useMutation({
    mutationFn: (change: BrandingChange) => api.put('/channels/{appId}/branding', { appId, ...change }),
    onSuccess: ({ branding, changed }) => {
      const channel = queries.getQueryData(channelQuery(appId).queryKey);
      if (channel) take({ ...channel, branding });
      notifySaved(changed, t('saved'));
    },
  });
}
