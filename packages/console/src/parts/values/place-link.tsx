import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { parseSearch } from '../../address/search-text.ts';

interface PlaceLinkProps {
  /** One of `places`. */
  readonly to: string;
  readonly className?: string | undefined;
  readonly children: ReactNode;
}

/** Leads to a place of the console, without loading the page anew. */
export function PlaceLink({ to, className, children }: PlaceLinkProps) {
  return (
    <Link {...placeAddress(to)} className={className}>
      {children}
    </Link>
  );
}

/** A place as the router takes it, for a row of a table or a button. */
export function placeAddress(place: string): Pick<LinkProps, 'to' | 'search'> {
  const [to = '/', search = ''] = place.split('?');
  return { to, search: parseSearch(search) } as Pick<LinkProps, 'to' | 'search'>;
}
