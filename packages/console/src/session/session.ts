import { mayDo } from '@perennial/service/roles';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { api, carryToken } from '../api/client.ts';
import { queryClient } from '../api/query-client.ts';
import type { Role, Session, SignInRequest, SignInWays } from '../api/types.ts';
import { setCurrency } from '../parts/values/money.tsx';

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async () => keep(await api.signIn<Session>('GET', '/session')),
  staleTime: Number.POSITIVE_INFINITY,
  refetchOnWindowFocus: false,
});

function keep(session: Session): Session {
  carryToken(session.csrfToken);
  setCurrency(session.currency);
  return session;
}

/** Returns the signed-in operator's session. Call it only in components below a route that needs a session. */
export function useSession(): Session {
  const { data } = useQuery(sessionQuery);
  if (!data) throw new Error('No operator is signed in');
  return data;
}

/** Returns whether the signed-in operator has the rights of the needed role, or of one of several needed roles. */
export const useMayDo = (needed: Role | readonly Role[]): boolean => mayDo(useSession().role, needed);

export const signInWaysQuery = queryOptions({
  queryKey: ['sign-in-ways'],
  queryFn: () => api.signIn<SignInWays>('GET', '/sign-in-ways'),
});

export async function signIn(request: SignInRequest): Promise<void> {
  const session = await api.signIn<Session>('POST', '/session', request);
  // Forgets the cached data first: the new operator must not see the previous operator's data.
  forgetSession();
  queryClient.setQueryData(sessionQuery.queryKey, keep(session));
}

/** Begins a new session for the same operator. The page keeps what the operator typed. */
export const signInAgain = async (request: SignInRequest): Promise<void> =>
  takeSession(await api.signIn<Session>('POST', '/session', request));

/**
 * Adopts the session that another window of this browser has begun. Returns false if there is no session. If the
 * session belongs to a different operator, reloads the page, because what was typed on the page must not be sent in
 * that operator's name.
 */
export async function resumeSession(): Promise<boolean> {
  const session = await api.signIn<Session>('GET', '/session').catch(() => undefined);
  if (!session) return false;
  const before = queryClient.getQueryData(sessionQuery.queryKey);
  if (before && before.name !== session.name) {
    location.reload();
    return false;
  }
  takeSession(session);
  return true;
}

/** Adopts the session of another tab whenever the operator returns to this tab, and then calls `onResumed`. */
export function useResumption(onResumed: () => void): void {
  useEffect(() => {
    const look = async () => {
      if (document.visibilityState === 'visible' && (await resumeSession())) onResumed();
    };
    const onLook = () => void look();
    window.addEventListener('focus', onLook);
    document.addEventListener('visibilitychange', onLook);
    return () => {
      window.removeEventListener('focus', onLook);
      document.removeEventListener('visibilitychange', onLook);
    };
  });
}

/** Stores a changed session, for example after the operator has confirmed their identity or added a second factor. */
export const takeSession = (session: Session): void => {
  queryClient.setQueryData(sessionQuery.queryKey, keep(session));
};

export const reloadSession = (): Promise<void> => queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });

/** Ends the session at the service. Call `forgetSession` as soon as no page that needs the session is shown. */
export const signOut = (): Promise<unknown> => api.session('DELETE', '/session');

export const forgetSession = (): void =>
  queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== signInWaysQuery.queryKey[0] });
