import type { Channel } from '../catalog/channels/channel.js';
import { isThisMachine } from '../platform/this-machine.js';
import { isolated } from './html.js';
import { cutText, toShownText } from './shown-text.js';

/** The seller of the subscription, as the page shows it. */
export type Seller = ReturnType<typeof createSeller>;

export interface SupportContact {
  readonly kind: 'phone' | 'mail' | 'web';
  readonly href: string;
  /** The displayed text. */
  readonly text: string;
}

/** The maximum number of characters of a name. It is on a page many times and must fit on a phone. */
const MAX_NAME = 60;

const sellers = new WeakMap<object, Seller>();

/** Returns the seller, cached for each version of the channel. */
export function sellerOf(channel: Channel): Seller {
  const known = sellers.get(channel);
  if (known) return known;
  const seller = createSeller(channel);
  sellers.set(channel, seller);
  return seller;
}

function createSeller({ appId, name, branding }: Pick<Channel, 'appId' | 'name' | 'branding'>) {
  const shown = cutText(toShownText(branding.displayName ?? name), MAX_NAME) || '·';
  return {
    name: shown,
    /** The name as HTML, with its own text direction. */
    nameHtml: isolated(shown),
    /** The first character of the name, shown if there is no logo. */
    monogram: ([...shown][0] ?? '').toUpperCase(),
    /** The logo's file. Only the channel's cell has it, so the URL contains the app id for the proxy. */
    logo: branding.logo === null ? null : `${branding.logo}?appId=${appId}`,
    accent: branding.accent,
    support: branding.support === null ? undefined : toSupportContact(branding.support),
    termsUrl: webAddress(branding.termsUrl),
    shopUrl: webAddress(branding.shopUrl),
  };
}

/** Returns the URL for a link. Returns undefined if it is neither an https URL nor an http URL of this machine. */
export function webAddress(address: string | null): string | undefined {
  if (address === null || !URL.canParse(address)) return undefined;
  const { protocol, hostname, href } = new URL(address);
  return protocol === 'https:' || (protocol === 'http:' && isThisMachine(hostname)) ? href : undefined;
}

/** Returns undefined if the contact is not a phone number, mail address or URL. */
function toSupportContact(contact: string): SupportContact | undefined {
  const text = toShownText(contact);
  const web = webAddress(text);
  if (web !== undefined) return { kind: 'web', href: web, text: new URL(web).host };
  if (/^[^\s@:/?#<>"]+@[^\s@:/?#<>"]+$/.test(text)) return { kind: 'mail', href: `mailto:${encodeURI(text)}`, text };
  const digits = text.replace(/[^\d+]/g, '');
  return /^\+?\d{3,20}$/.test(digits) ? { kind: 'phone', href: `tel:${digits}`, text } : undefined;
}
