import { Avatar } from '@mantine/core';
import { useInViewport } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { pictureQuery } from '../../api/catalog.ts';
import type { StoredPicture } from '../../api/types.ts';
import { dictionary } from '../../i18n/dictionary.ts';
import { BenefitIcon, PictureIcon } from '../../icons/icons.tsx';

const useTexts = dictionary({
  broken: ['Cannot be displayed', '无法显示'],
});

interface PictureBoxProps {
  /** The picture's URL. Undefined if there is no picture, or while it loads. */
  readonly address: string | undefined;
  readonly size?: 28 | 56;
  readonly isBroken?: boolean;
  readonly ofBenefit?: boolean;
}

/**
 * A picture on white in both colour schemes, as users see it. It is in an img element, because there even an SVG can
 * neither run scripts nor load anything.
 */
export function PictureBox({ address = '', size = 56, isBroken = false, ofBenefit = false }: PictureBoxProps) {
  const t = useTexts();
  const Icon = ofBenefit && !isBroken ? BenefitIcon : PictureIcon;
  return (
    <Avatar
      component="span"
      src={address || null}
      alt=""
      size={size}
      radius="md"
      variant="default"
      bd="1px solid var(--line-strong)"
      title={isBroken ? t('broken') : undefined}
      styles={{ image: { padding: size / 14, background: '#fff', objectFit: 'contain' } }}
    >
      <Icon size={size === 28 ? 15 : 20} />
    </Avatar>
  );
}

/** Returns a stored picture's URL, and whether loading failed. The URL is undefined until the picture is loaded. */
export function useStoredPicture(picture: StoredPicture | null, isWanted = true) {
  const file = picture?.file ?? '';
  const { data, isError } = useQuery({ ...pictureQuery(file), enabled: isWanted && file !== '' });
  return { address: picture ? data : undefined, isBroken: picture !== null && isError };
}

/** A benefit's icon in a list. It is loaded when it is scrolled into view. */
export function BenefitPicture({ icon }: { readonly icon: StoredPicture | null }) {
  const { ref, inViewport } = useInViewport();
  const stored = useStoredPicture(icon, inViewport);
  return (
    <span ref={ref}>
      <PictureBox size={28} ofBenefit {...stored} />
    </span>
  );
}
