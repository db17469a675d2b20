/** Parses a list of long names, each with an optional short name after a slash. */
const toNames = (list: string) =>
  list
    .trim()
    .split(/\s+/)
    .map((one) => one.split('/') as [long: string, short?: string]);

/** Options that define the request. */
const READ = toNames(`request/X header/H data/d data-raw data-binary data-ascii json url
  data-urlencode form/F form-string upload-file/T config/K url-query`);
/** Options to ignore. Each takes a value, which must not be mistaken for the URL. */
const SKIPPED = toNames(`abstract-unix-socket alt-svc aws-sigv4 cacert capath cert/E cert-type ciphers connect-timeout
  connect-to continue-at/C cookie/b cookie-jar/c create-file-mode crlfile curves delegation dns-interface dns-servers doh-url
  dump-header/D engine etag-compare etag-save expect100-timeout happy-eyeballs-timeout-ms hsts interface keepalive-time
  key key-type libcurl limit-rate local-port login-options max-filesize max-redirs max-time/m netrc-file noproxy
  oauth2-bearer output/o output-dir parallel-max pass pinnedpubkey preproxy proto proto-default proto-redir proxy/x
  proxy-cacert proxy-capath proxy-cert proxy-cert-type proxy-ciphers proxy-header proxy-key proxy-key-type proxy-pass
  proxy-user/U range/r rate referer/e resolve retry retry-delay retry-max-time service-name socks4 socks4a socks5
  socks5-hostname speed-limit/Y speed-time/y stderr time-cond/z tls-max tls13-ciphers trace trace-ascii unix-socket
  user/u user-agent/A write-out/w`);
const FLAGS =
  toNames(`get/G head/I next/: anyauth basic digest compressed fail/f fail-early fail-with-body globoff/g http0.9
  http1.0/0 http1.1 http2 http2-prior-knowledge http3 http3-only include/i insecure/k ipv4/4 ipv6/6 junk-session-cookies/j
  location/L location-trusted negotiate netrc/n netrc-optional no-alpn no-buffer/N no-keepalive no-progress-meter
  no-sessionid ntlm parallel/Z path-as-is post301 post302 post303 progress-bar/# proxy-insecure proxytunnel/p raw
  remote-header-name/J remote-name/O remote-time/R remove-on-error retry-all-errors retry-connrefused show-error/S
  silent/s ssl ssl-reqd sslv2/2 sslv3/3 styled-output tcp-fastopen tcp-nodelay tlsv1/1 tlsv1.0 tlsv1.1 tlsv1.2 tlsv1.3
  tr-encoding trace-time verbose/v disable/q`);

const WITH_VALUE = new Set([...READ, ...SKIPPED].map(([long]) => long));
const KNOWN = new Set([...WITH_VALUE, ...FLAGS.map(([long]) => long)]);
const LONG_NAMES = new Map(
  [...READ, ...SKIPPED, ...FLAGS].flatMap(([long, short]) => (short === undefined ? [] : [[short, long] as const])),
);

export const takesValue = (name: string): boolean => WITH_VALUE.has(name);
/** Returns whether the lists above have an option of this name, also in the negated form `no-NAME`. */
export const isKnown = (name: string): boolean => KNOWN.has(name) || KNOWN.has(name.replace(/^no-/, ''));
/** Returns the long name of a one-letter option, or `-LETTER` if the letter is unknown. */
export const toLongName = (letter: string): string => LONG_NAMES.get(letter) ?? `-${letter}`;
