import { createPrivateKey, X509Certificate } from 'node:crypto';
import { type Env, readSettingFile, readText, readUrl, SettingsError } from './values.js';

/** How bridges and suppliers are reached. */
export interface PeerSettings {
  /** The client certificate and its key. */
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
  /** The only authorities to trust. Unset: the authorities that Node trusts. */
  readonly caFile?: string | undefined;
  readonly proxy?: ProxySettings | undefined;
}

export interface ProxySettings {
  readonly url: URL;
  /** The header Proxy-Authorization, a secret. */
  readonly authorization: string | undefined;
}

/** Reads the settings of calls to bridges and suppliers, and checks their files. */
export function readPeers(env: Env): PeerSettings {
  const certFile = readText(env, 'PEER_TLS_CERT_FILE');
  const keyFile = readText(env, 'PEER_TLS_KEY_FILE');
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw new SettingsError('PEER_TLS_CERT_FILE and PEER_TLS_KEY_FILE must be set together');
  }
  const peers = { certFile, keyFile, caFile: readText(env, 'PEER_TLS_CA_FILE'), proxy: readProxy(env) };
  readPeerFiles(peers);
  return peers;
}

/** Reads the certificates and the key. Throws SettingsError, which never quotes a file, if they cannot be used. */
export function readPeerFiles({ certFile, keyFile, caFile }: PeerSettings) {
  const ca = caFile === undefined ? undefined : readPem('PEER_TLS_CA_FILE', caFile, parseCertificates).text;
  if (certFile === undefined || keyFile === undefined) return { ca };
  const cert = readPem('PEER_TLS_CERT_FILE', certFile, parseCertificates);
  const key = readPem('PEER_TLS_KEY_FILE', keyFile, createPrivateKey);
  if (!cert.parsed[0]?.checkPrivateKey(key.parsed)) {
    throw new SettingsError(`PEER_TLS_KEY_FILE ${keyFile} is not the key of the first certificate in ${certFile}`);
  }
  return { ca, cert: cert.text, key: key.text };
}

function readPem<T>(
  name: string,
  file: string,
  parse: (text: string) => T,
): { readonly text: string; readonly parsed: T } {
  const text = readSettingFile(name, file);
  try {
    return { text, parsed: parse(text) };
  } catch {
    throw new SettingsError(`${name} ${file} must be in PEM: certificates, or a key without a passphrase`);
  }
}

/** Parses each certificate, because TLS would ignore an unreadable certificate that follows the first one. */
function parseCertificates(text: string): X509Certificate[] {
  const parts = text.split(/(?=-----BEGIN )/).filter((part) => part.startsWith('-----BEGIN CERTIFICATE-----'));
  if (parts.length === 0) throw new SettingsError('there is no certificate');
  return parts.map((part) => new X509Certificate(part));
}

/** Reads the proxy's URL. The returned URL has no user and password, so that it may be logged. */
function readProxy(env: Env): ProxySettings | undefined {
  const value = readUrl(env, 'PEER_PROXY_URL', ['http:', 'https:']);
  if (value === undefined) return undefined;
  const url = new URL(value);
  const { username, password, pathname, search, hash } = url;
  if (`${pathname}${search}${hash}` !== '/') {
    throw new SettingsError('PEER_PROXY_URL must be a URL without a path, a query or a fragment');
  }
  try {
    const user = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
    const authorization = `${username}${password}` === '' ? undefined : `Basic ${user.toString('base64')}`;
    return { url: new URL(url.origin), authorization };
  } catch {
    throw new SettingsError('PEER_PROXY_URL: a % in its user or password must be written as %25');
  }
}
