import type { CredentialsAnswer } from '../../api/types.ts';
import { useTexts } from './texts.ts';

export const SECRETS = ['appSecret', 'aesKey', 'callbackSecret'] as const;
export type SecretName = (typeof SECRETS)[number];

const VARIABLES: Readonly<Record<SecretName, string>> = {
  appSecret: 'PERENNIAL_APP_SECRET',
  aesKey: 'PERENNIAL_AES_KEY',
  callbackSecret: 'PERENNIAL_CALLBACK_SECRET',
};

/** Returns a function that lists new secrets with their labels. */
export function useSecretRows() {
  const t = useTexts();
  return (credentials: CredentialsAnswer['credentials']) =>
    SECRETS.flatMap((name) => {
      const value = credentials[name];
      return value === undefined ? [] : [[VARIABLES[name], t(name), value] as const];
    });
}
