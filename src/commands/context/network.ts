import { readCertificates } from '../../disk/text-file.ts';
import type { NetworkOptions } from '../../gateway/http/transport.ts';
import { UsageError } from '../../model/errors.ts';
import type { CliContext } from './cli-context.ts';

/** Reads the proxies and the certificates of the environment; undefined if it has none. Throws UsageError for an invalid proxy. */
export function readNetwork(env: CliContext['env']): NetworkOptions | undefined {
  const [http, https] = [proxyIn(env, 'http_proxy'), proxyIn(env, 'https_proxy')];
  const proxies = http === '' && https === '' ? undefined : { http, https, exceptions: valueOf(env, 'no_proxy') };
  const file = env['SSL_CERT_FILE'] ?? '';
  if (proxies === undefined && file === '') return undefined;
  const certificates = file === '' ? [] : ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE'].flatMap((name) => certificatesIn(env, name));
  return { certificates, ...(proxies === undefined ? {} : { proxies }) };
}

function certificatesIn(env: CliContext['env'], variable: string): readonly string[] {
  const path = env[variable] ?? '';
  return path === '' ? [] : [readCertificates(path, variable)];
}

/** Returns the value of a variable that is spelled in lower case, otherwise in upper case, as other programs read it. */
function valueOf(env: CliContext['env'], name: string): string {
  return env[name] ?? env[name.toUpperCase()] ?? '';
}

/** Returns the URL of a proxy; an address without a scheme is an http one. Does not repeat the value, which may contain a password. */
function proxyIn(env: CliContext['env'], name: string): string {
  const text = valueOf(env, name);
  if (text === '') return '';
  const url = text.includes('://') ? text : `http://${text}`;
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url;
  const variable = env[name] === undefined ? name.toUpperCase() : name;
  throw new UsageError(`invalid URL in ${variable}: expected http or https`, 'example: http://proxy.example.com:3128');
}
