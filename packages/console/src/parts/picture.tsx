import { useInViewport } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { pictureQuery } from '../api/catalog.ts';
import type { StoredPicture } from '../api/types.ts';
import { dictionary } from '../i18n/dictionary.ts';
import { BenefitIcon, PictureIcon } from '../icons/icons.tsx';
import styles from './picture.module.css';

const useTexts = dictionary({
  broken: ['It cannot be shown', '无法显示'],
});

interface PictureBoxProps {
  /** Undefined: there is none, or it has not come yet. */
  readonly address: string | undefined;
  readonly size?: 'sm' | 'md';
  readonly isBroken?: boolean;
  readonly ofBenefit?: boolean;
}

/** A picture on white in both schemes, as users see it: most are drawn for that. As an image it can neither run nor load anything. */
export function PictureBox({ address, size = 'md', isBroken = false, ofBenefit = false }: PictureBoxProps) {
  const t = useTexts();
  const [undrawn, setUndrawn] = useState<string>();
  if (address !== undefined && address !== undrawn)
    return (
      <span className={styles.box} data-size={size} data-drawn>
        <img src={address} alt="" onError={() => setUndrawn(address)} />
      </span>
    );
  const Icon = ofBenefit && !isBroken ? BenefitIcon : PictureIcon;
  const title = isBroken || address !== undefined ? t('broken') : undefined;
  return (
    <span className={styles.box} data-size={size} title={title}>
      <Icon size={size === 'sm' ? 15 : 20} />
    </span>
  );
}

/** The address of a picture that is stored; undefined until it has come. */
export function useStoredPicture(picture: StoredPicture | null, isWanted = true) {
  const file = picture?.file ?? '';
  const { data, isError } = useQuery({ ...pictureQuery(file), enabled: isWanted && file !== '' });
  return { address: picture ? data : undefined, isBroken: picture !== null && isError };
}

/** The icon of a benefit in a list. It is asked for when it is seen. */
export function BenefitPicture({ icon }: { readonly icon: StoredPicture | null }) {
  const { ref, inViewport } = useInViewport();
  const stored = useStoredPicture(icon, inViewport);
  return (
    <span ref={ref} className={styles.holder}>
      <PictureBox size="sm" ofBenefit {...stored} />
    </span>
  );
}
