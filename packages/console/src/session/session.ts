import { mayDo } from '@perennial/service/roles';
import { queryOptions, useQuery } from '@tanstack/react-query';
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

/** Of whoever is signed in; only below the routes that need somebody to be. */
export function useSession(): Session {
  const { data } = useQuery(sessionQuery);
  if (!data) throw new Error('Nobody is signed in');
  return data;
}

/** Whether the person who is signed in may do what this role may. */
export const useMayDo = (needed: Role | readonly Role[]): boolean => mayDo(useSession().role, needed);

export const signInWaysQuery = queryOptions({
  queryKey: ['sign-in-ways'],
  queryFn: () => api.signIn<SignInWays>('GET', '/sign-in-ways'),
});

export async function signIn(request: SignInRequest): Promise<void> {
  const session = await api.signIn<Session>('POST', '/session', request);
  // What a person before may have left behind is not this person's to see.
  forgetSession();
  queryClient.setQueryData(sessionQuery.queryKey, keep(session));
}

/** Begins another session of the person whose session has ended; what is shown and typed stays. */
export const signInAgain = async (request: SignInRequest): Promise<void> =>
  takeSession(await api.signIn<Session>('POST', '/session', request));

/**
 * Takes the session that another window of this browser has begun. Returns false if there is none. The page of somebody else begins
 * anew: nothing that this person has typed may be sent in another name.
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

/** After what changes one's own session: another proof, a second factor. */
export const takeSession = (session: Session): void => {
  queryClient.setQueryData(sessionQuery.queryKey, keep(session));
};

export const reloadSession = (): Promise<void> => queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });

/** To be followed by `forgetSession`, once nothing is shown any more that belongs to it. */
export const signOut = (): Promise<unknown> => api.session('DELETE', '/session');

export const forgetSession = (): void =>
  queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== signInWaysQuery.queryKey[0] });
