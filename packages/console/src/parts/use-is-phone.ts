import { useMediaQuery } from '@mantine/hooks';

/** Returns true on a phone, where lists are cards and the menu is a drawer. */
export const useIsPhone = (): boolean =>
  useMediaQuery('(max-width: 47.99em)', undefined, { getInitialValueInEffect: false });
