import { Group } from '@mantine/core';
import { makeTones, type Theme } from '@perennial/service/tones';
import type { CSSProperties } from 'react';
import styles from './branding.module.css';
import type { BrandingTexts } from './branding-form.ts';
import { useTexts } from './branding-texts.ts';

interface BrandingPreviewProps {
  /** The channel's, which is shown when it has no display name. */
  readonly name: string;
  readonly texts: BrandingTexts;
  readonly accent: string | undefined;
  /** For an image element. */
  readonly logo: string | undefined;
}

/** How the user's page begins and ends, in both themes. */
export function BrandingPreview(props: BrandingPreviewProps) {
  return (
    <div className={styles.previews}>
      <Screen theme="light" {...props} />
      <Screen theme="dark" {...props} />
    </div>
  );
}

function Screen({ theme, name: channelName, texts, accent, logo }: BrandingPreviewProps & { readonly theme: Theme }) {
  const t = useTexts();
  const name = texts.displayName.trim() || channelName;
  const support = texts.support.trim().replace(/^https:\/\/([^/]+).*$/i, '$1');
  return (
    <figure className={styles.preview}>
      <figcaption>{t(theme)}</figcaption>
      <div
        role="img"
        aria-label={t('previewOf', { name, theme: t(theme) })}
        className={styles.screen}
        data-theme={theme}
        style={accent === undefined ? undefined : toStyle(accent, theme)}
      >
        <Group gap={8} wrap="nowrap">
          {logo ? (
            <img className={styles.logo} src={logo} alt="" />
          ) : (
            <span className={styles.monogram}>{([...name][0] ?? '').toUpperCase()}</span>
          )}
          <strong className={styles.name}>{name}</strong>
          {texts.shopUrl.trim() ? <span className={styles.back}>‹ {t('back')}</span> : null}
        </Group>
        <div className={styles.hero}>
          <span className={styles.chip}>{t('active')}</span>
          <strong>{t('product')}</strong>
          <span>{t('period')}</span>
        </div>
        <div className={styles.benefit}>
          <span>{t('benefit')}</span>
          <span className={styles.claim}>{t('claim')}</span>
        </div>
        <div className={styles.footer}>
          <span>{t('soldBy', { name })}</span>
          {support || texts.termsUrl.trim() ? (
            <Group component="span" gap="0 10px" align="stretch" justify="center">
              {support ? <u>{support}</u> : null}
              {texts.termsUrl.trim() ? <u>{t('terms')}</u> : null}
            </Group>
          ) : null}
        </div>
      </div>
    </figure>
  );
}

/** By the names that the page's own style sheet has for them. */
const toStyle = (accent: string, theme: Theme): CSSProperties =>
  Object.fromEntries(Object.entries(makeTones(accent)[theme]).map(([tone, colour]) => [`--${tone}`, colour]));
