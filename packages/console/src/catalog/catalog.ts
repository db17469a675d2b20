import { useQuery } from '@tanstack/react-query';
import { channelsQuery, paymentChannelsQuery, productsQuery } from '../api/catalog.ts';
import type { Language } from '../i18n/language.ts';

interface BenefitNames {
  readonly name: string | null;
  /** The names that users see, if the operator gave them. */
  readonly nameZh: string | null;
  readonly nameEn: string | null;
}

/** Returns the name that users see, in the console's language if there is one, else the name in the product. */
export const benefitName = ({ name, nameZh, nameEn }: BenefitNames, language: Language): string | null =>
  (language === 'zh' ? (nameZh ?? nameEn) : (nameEn ?? nameZh)) ?? name;

interface Choice {
  readonly value: string;
  readonly label: string;
}

/** Names of configured things, by code. Until they are loaded, pages show codes, and filters accept codes as text. */
interface Names {
  /** Returns the name, or the code if the name is unknown. */
  of(code: string): string;
  readonly choices: readonly Choice[];
}

function namesOf(choices: readonly Choice[]): Names {
  const byCode = new Map(choices.map(({ value, label }) => [value, label]));
  return { of: (code) => byCode.get(code) ?? code, choices };
}

export function useChannelNames(): Names {
  const { data = [] } = useQuery(channelsQuery);
  return namesOf(data.map(({ appId, name }) => ({ value: appId, label: name })));
}

export function useProductNames(): Names {
  const { data = [] } = useQuery(productsQuery);
  return namesOf(data.map(({ productCode, productName }) => ({ value: productCode, label: productName })));
}

/** Names of payment channels, which operators call institutions. */
export function useInstitutionNames(): Names {
  const { data = [] } = useQuery(paymentChannelsQuery);
  return namesOf(data.map(({ code, displayName }) => ({ value: code, label: displayName })));
}
