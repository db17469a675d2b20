import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
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

/** Returns the same object until the names change, so that rows that show them are not rendered again. */
const useNames = <Row>(rows: readonly Row[] | undefined, choiceOf: (row: Row) => Choice): Names =>
  // biome-ignore lint/correctness/useExhaustiveDependencies: `choiceOf` always does the same
  useMemo(() => {
    const choices = (rows ?? []).map(choiceOf);
    const byCode = new Map(choices.map(({ value, label }) => [value, label]));
    return { of: (code) => byCode.get(code) ?? code, choices };
  }, [rows]);

export const useChannelNames = (): Names =>
  useNames(useQuery(channelsQuery).data, ({ appId, name }) => ({ value: appId, label: name }));

export const useProductNames = (): Names =>
  useNames(useQuery(productsQuery).data, ({ productCode, productName }) => ({
    value: productCode,
    label: productName,
  }));

/** Names of payment channels, which operators call institutions. */
export const useInstitutionNames = (): Names =>
  useNames(useQuery(paymentChannelsQuery).data, ({ code, displayName }) => ({ value: code, label: displayName }));
