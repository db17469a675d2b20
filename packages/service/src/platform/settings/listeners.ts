import { type Env, readText, SettingsError } from './values.js';

const LOCAL = '127.0.0.1';

/** Reads the addresses and ports of the API, the console and /metrics. */
export function readListeners(env: Env, isProduction: boolean) {
  const { host, port } = readListener(env, 'PORT') ?? { host: LOCAL, port: 8080 };
  /** In production, the console and /metrics are reachable from this machine only, unless a setting says otherwise. */
  const readApart = (name: string, offset: number) => {
    if (readText(env, name) === 'same') return undefined;
    const own = { host: LOCAL, port: port === 0 ? 0 : port + (port > 60_000 ? -offset : offset) };
    return readListener(env, name) ?? (isProduction ? own : undefined);
  };
  const { host: metricsHost = LOCAL, port: metricsPort } = readApart('METRICS_PORT', 2000) ?? {};
  if (metricsPort === port && port !== 0) {
    throw new SettingsError(`METRICS_PORT must be another port than PORT, which is ${port}`);
  }
  const { host: consoleHost = LOCAL, port: consolePort } = readApart('CONSOLE_PORT', 1000) ?? {};
  if (consolePort !== undefined && consolePort !== 0 && (consolePort === port || consolePort === metricsPort)) {
    throw new SettingsError('CONSOLE_PORT must be another port than PORT and METRICS_PORT');
  }
  return {
    host,
    port,
    /** The port of a separate listener for /metrics and /healthz. Undefined: they are served on the port of the API. */
    metricsPort,
    metricsHost,
    /** The console's own port. Undefined: the console is served on the port of the API. */
    consolePort,
    consoleHost,
  };
}

/** Reads a port, or an address and a port: `8080`, `0.0.0.0:8080`, `[::]:8080`. */
function readListener(env: Env, name: string): { readonly host: string; readonly port: number } | undefined {
  const value = readText(env, name);
  if (value === undefined) return undefined;
  const [, ipv6, host = ipv6 ?? LOCAL, digits = ''] = /^(?:(?:\[(.+)\]|([^:]+)):)?(\d{1,5})$/.exec(value) ?? [];
  const port = Number(digits);
  if (digits === '' || port > 65_535) {
    throw new SettingsError(`${name} must be a port from 0 to 65535, or an address and a port, but is "${value}"`);
  }
  return { host, port };
}
