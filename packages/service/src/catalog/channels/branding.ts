/** The branding of a channel, as its users see it. Null fields are not set. */
export interface Branding {
  readonly displayName: string | null;
  /** The file name of the picture: the hash of its bytes, with an extension. */
  readonly logo: string | null;
  /** Six hexadecimal digits. */
  readonly accent: string | null;
  /** A phone number, an e-mail address or an https address. */
  readonly support: string | null;
  readonly termsUrl: string | null;
  readonly shopUrl: string | null;
}

export const NO_BRANDING: Branding = {
  displayName: null,
  logo: null,
  accent: null,
  support: null,
  termsUrl: null,
  shopUrl: null,
};
