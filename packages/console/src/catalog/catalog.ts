import { useQuery } from '@tanstack/react-query';
import { channelsQuery, paymentChannelsQuery, productsQuery } from '../api/catalog.ts';

interface Choice {
  readonly value: string;
  readonly label: string;
}

/** Names of what changes seldom. Without them a page shows codes, and its filters take a code as text. */
interface Names {
  /** By its name, or by its code while that is not known. */
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

/** Institutions: what operators call them, and what a payment names. */
export function useInstitutionNames(): Names {
  const { data = [] } = useQuery(paymentChannelsQuery);
  return namesOf(data.map(({ code, displayName }) => ({ value: code, label: displayName })));
}
