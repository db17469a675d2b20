import { Button, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { channelQuery } from '../../api/catalog.ts';
import { api } from '../../api/client.ts';
import type { BrandingChange } from '../../api/types.ts';
import { useCommonTexts } from '../../i18n/common.ts';
import { useFieldProblem } from '../../parts/field-problem.ts';
import { notifyDone } from '../../parts/notify.ts';
import { Section } from '../../parts/page.tsx';
import { type PictureChange, PictureField, useShownPicture } from '../../parts/picture-field.tsx';
import { FormProblem } from '../../parts/states.tsx';
import { useMayDo } from '../../session/session.ts';
import styles from './branding.module.css';
import { type BrandingText, changeOf, readAccent, textsOf } from './branding-form.ts';
import { BrandingPreview } from './branding-preview.tsx';
import { useTexts } from './branding-texts.ts';
import { AccentNote, BrandingTones } from './branding-tones.tsx';
import type { ChannelTabProps } from './channel-tab.ts';
import channelStyles from './channels.module.css';
import { useTakeChannel } from './use-change.ts';

/** The page's own, which the picker begins with. */
const GREEN = '0a6b4b';

/** What users see of a channel, and how that looks before it is saved. */
export function BrandingTab({ channel }: ChannelTabProps) {
  const t = useTexts();
  const common = useCommonTexts();
  const isAdmin = useMayDo('admin');
  const form = useRef<HTMLFormElement>(null);
  const [texts, setTexts] = useState(() => textsOf(channel.branding));
  const [logo, setLogo] = useState<PictureChange>();
  const set = useBrandingChange(channel.appId);
  const wrong = useFieldProblem(set.error, form);
  const change = changeOf(channel.branding, texts, logo);
  const accent = readAccent(texts.accent);
  const shownLogo = useShownPicture(channel.branding.logo, logo);
  const type = (name: BrandingText, text: string) => setTexts((before) => ({ ...before, [name]: text }));
  const field = (name: BrandingText) => ({
    label: t(name),
    error: wrong.at(name),
    value: texts[name],
    readOnly: !isAdmin,
    onChange: (event: { readonly currentTarget: HTMLInputElement }) => type(name, event.currentTarget.value),
  });
  const address = { classNames: { input: 'mono' }, spellCheck: false, maxLength: 2000 } as const;
  return (
    <div className={styles.columns}>
      <form
        ref={form}
        className={channelStyles.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (!change || set.isPending) return;
          set.mutate(change, {
            onSuccess: ({ branding }) => {
              setTexts(textsOf(branding));
              setLogo(undefined);
            },
          });
        }}
      >
        <p className={channelStyles.hint}>{t('hint')}</p>
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
            set.reset();
          }}
        />
        <div>
          <TextInput
            {...field('accent')}
            description={t('accentHint')}
            classNames={{ input: 'mono' }}
            maxLength={20}
            spellCheck={false}
            leftSectionPointerEvents="all"
            leftSection={
              <input
                type="color"
                className={styles.picker}
                aria-label={t('pickAccent')}
                value={`#${accent ?? GREEN}`}
                disabled={!isAdmin}
                onChange={(event) => type('accent', event.currentTarget.value)}
              />
            }
          />
          <AccentNote accent={accent} />
        </div>
        <TextInput {...field('support')} description={t('supportHint')} maxLength={500} spellCheck={false} />
        <TextInput
          {...field('termsUrl')}
          {...address}
          description={t('termsUrlHint')}
          placeholder="https://"
          inputMode="url"
        />
        <TextInput
          {...field('shopUrl')}
          {...address}
          description={t('shopUrlHint')}
          placeholder="https://"
          inputMode="url"
        />
        <FormProblem error={wrong.elsewhere} />
        {isAdmin ? (
          <Button type="submit" disabled={!change} loading={set.isPending}>
            {common('save')}
          </Button>
        ) : (
          <p className={channelStyles.hint}>{t('onlyAdmin')}</p>
        )}
      </form>
      <div className={styles.beside}>
        <Section title={t('preview')}>
          <BrandingPreview name={channel.name} texts={texts} accent={accent} logo={shownLogo} />
        </Section>
        <Section title={t('tones')}>
          <BrandingTones accent={accent} />
        </Section>
      </div>
    </div>
  );
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
      notifyDone(t(changed ? 'saved' : 'asBefore'));
    },
  });
}
