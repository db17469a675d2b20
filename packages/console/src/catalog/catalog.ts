import type * as schemas from '@perennial/service/console-schemas';
import type { Static } from '@perennial/wire';
import { useQuery } from '@tanstack/react-query';
import { api } from '../api/client.ts';

type Channels = Static<typeof schemas.setup.channels>;
type Products = Static<typeof schemas.setup.products>;
type PaymentChannels = Static<typeof schemas.setup.paymentChannels>;

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

function useNames<Answer>(path: string, choicesOf: (answer: Answer) => readonly Choice[]): Names {
  const { data } = useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => api.get<Answer>(path, {}, signal),
    staleTime: 60_000,
  });
  const choices = data ? choicesOf(data) : [];
  const byCode = new Map(choices.map(({ value, label }) => [value, label]));
  return { of: (code) => byCode.get(code) ?? code, choices };
}

export const useChannelNames = (): Names =>
  useNames<Channels>('/channels', ({ channels }) => channels.map(({ appId, name }) => ({ value: appId, label: name })));

export const useProductNames = (): Names =>
  useNames<Products>('/products', ({ products }) =>
    products.map(({ productCode, productName }) => ({ value: productCode, label: productName })),
  );

/** Institutions: what operators call them, and what a payment names. */
export const useInstitutionNames = (): Names =>
  useNames<PaymentChannels>('/payment-channels', ({ paymentChannels }) =>
    paymentChannels.map(({ code, displayName }) => ({ value: code, label: displayName })),
  );
