import tls from 'node:tls';

const known = new Map<string | undefined, tls.SecureContext>();

/** Of those that Node trusts, and of `ca` besides: for tests. Read once for all clients, when the first asks. */
export function trustedCertificates(ca: string | undefined): tls.SecureContext {
  const made = known.get(ca) ?? tls.createSecureContext(ca === undefined ? {} : { ca: [...tls.rootCertificates, ca] });
  known.set(ca, made);
  return made;
}
