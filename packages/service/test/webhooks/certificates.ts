import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import net from 'node:net';

/** A key and a certificate, in PEM, for one test. */
export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

export interface Authority extends Certificate {
  issue(options: LeafOptions): Certificate;
}

export interface LeafOptions {
  /** The names and addresses of the certificate. */
  readonly for: readonly string[];
  /** The first and last day of validity, relative to today. Defaults to yesterday until tomorrow. */
  readonly validDays?: readonly [from: number, to: number];
}

const DAY_MS = 86_400_000;
const VALID = [-1, 1] as const;

/**
 * Creates a certificate authority. Its certificates are encoded by hand, because Node creates keys but no certificates.
 */
export function newAuthority(name = 'Test authority'): Authority {
  const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const basicConstraints = extension('551d13', der(0x30, der(0x01, Buffer.from([0xff]))));
  return {
    ...pem(own.privateKey, certificate(name, own, name, own.privateKey, VALID, basicConstraints)),
    issue({ for: names, validDays = VALID }) {
      const leaf = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      return pem(leaf.privateKey, certificate('leaf', leaf, name, own.privateKey, validDays, namesFor(names)));
    },
  };
}

/** Creates a self-signed certificate. */
export function selfSigned({ for: names, validDays = VALID }: LeafOptions): Certificate {
  const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return pem(own.privateKey, certificate('self', own, 'self', own.privateKey, validDays, namesFor(names)));
}

const ECDSA_WITH_SHA256 = der(0x30, oid('2a8648ce3d040302'));

function certificate(
  subject: string,
  { publicKey }: { readonly publicKey: KeyObject },
  issuer: string,
  issuerKey: KeyObject,
  [from, to]: readonly [number, number],
  extensions: Buffer,
): Buffer {
  const content = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))), // version 3
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])), // serial number
    ECDSA_WITH_SHA256,
    commonName(issuer),
    der(0x30, time(from), time(to)),
    commonName(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(0x30, extensions)),
  );
  const signature = sign('sha256', content, issuerKey);
  return der(0x30, content, ECDSA_WITH_SHA256, der(0x03, Buffer.from([0]), signature));
}

function namesFor(names: readonly string[]): Buffer {
  const entries = names.map((name) =>
    net.isIPv4(name) ? der(0x87, Buffer.from(name.split('.').map(Number))) : der(0x82, Buffer.from(name)),
  );
  return extension('551d11', der(0x30, ...entries));
}

function extension(id: string, value: Buffer): Buffer {
  return der(0x30, oid(id), der(0x04, value));
}

function commonName(name: string): Buffer {
  return der(0x30, der(0x31, der(0x30, oid('550403'), der(0x0c, Buffer.from(name)))));
}

function time(days: number): Buffer {
  const digits = new Date(Date.now() + days * DAY_MS).toISOString().replace(/\D/g, '');
  return der(0x17, Buffer.from(`${digits.slice(2, 14)}Z`));
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}

/** Encodes one ASN.1 value: its type, length and content. */
function der(type: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([type, ...size]), content]);
}

function pem(key: KeyObject, cert: Buffer): Certificate {
  const lines = cert.toString('base64').replace(/.{64}/g, '$&\n');
  return {
    key: key.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  };
}
