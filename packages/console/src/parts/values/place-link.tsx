import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { parseSearch } from '../../address/search-text.ts';

interface PlaceLinkProps {
  /** One of `places`. */
  readonly to: string;
  readonly className?: string | undefined;
  readonly children: ReactNode;
}

/** A link to a page of the console, which opens without reloading the console. */
export function PlaceLink({ to, className, children }: PlaceLinkProps) {
  return (
    <Link {...placeAddress(to)} className={className}>
      {children}
    </Link>
  );
}

/** Converts a URL of `places` to the router's form, for a table row or a button. */
export function placeAddress(place: string): Pick<LinkProps, 'to' | 'search'> {
  const [to = '/', search = ''] = place.split('?');
  return { to, search: parseSearch(search) } as Pick<LinkProps, 'to' | 'search'>;
}
