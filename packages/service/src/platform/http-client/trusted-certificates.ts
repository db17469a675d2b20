import tls from 'node:tls';

const known = new Map<string | undefined, tls.SecureContext>();

/** Returns a context that trusts Node's certificates, and `ca` for tests. All clients share it. */
export function trustedCertificates(ca: string | undefined): tls.SecureContext {
  const made = known.get(ca) ?? tls.createSecureContext(ca === undefined ? {} : { ca: [...tls.rootCertificates, ca] });
  known.set(ca, made);
  return made;
}
