import { type MeasuredTone, measureTones, TONES } from '@perennial/service/tones';
import styles from './branding.module.css';
import { useTexts } from './branding-texts.ts';

/** The tones that are made of an accent, and how well text is read on them. */
export function BrandingTones({ accent }: { readonly accent: string | undefined }) {
  const t = useTexts();
  if (accent === undefined) return <p className="quiet">{t('ownTones')}</p>;
  const measured = measureTones(accent);
  const of = (theme: MeasuredTone['theme'], tone: MeasuredTone['tone']) =>
    measured.find((one) => one.theme === theme && one.tone === tone);
  return (
    <>
      <p className="quiet">{t('tonesHint')}</p>
      <table className={styles.tones}>
        <caption className="only-read">{t('tones')}</caption>
        <thead>
          <tr>
            <th scope="col">{t('tone')}</th>
            <th scope="col">{t('light')}</th>
            <th scope="col">{t('dark')}</th>
          </tr>
        </thead>
        <tbody>
          {TONES.map((tone) => (
            <tr key={tone}>
              <th scope="row">{t(`tone.${tone}`)}</th>
              <ToneCell measured={of('light', tone)} />
              <ToneCell measured={of('dark', tone)} />
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function ToneCell({ measured }: { readonly measured: MeasuredTone | undefined }) {
  const t = useTexts();
  if (!measured) return <td />;
  return (
    <td>
      <span className={styles.toneCell}>
        <span className={styles.swatch} style={{ background: measured.colour }} aria-hidden="true" />
        <span>
          <span className="mono">{measured.colour}</span>{' '}
          <span className="quiet figures">{t('contrast', { ratio: measured.contrast.toFixed(1) })}</span>
        </span>
      </span>
    </td>
  );
}

/** What becomes of the accent as text, where it cannot be read. */
export function AccentNote({ accent }: { readonly accent: string | undefined }) {
  const t = useTexts();
  if (accent === undefined) return null;
  const shown = measureTones(accent).filter(({ tone, colour }) => tone === 'accent-ink' && colour !== `#${accent}`);
  return shown.map(({ theme, colour }) => (
    <span key={theme} className={styles.accentNote}>
      {t(theme === 'light' ? 'darkened' : 'lightened', { colour })}
    </span>
  ));
}
