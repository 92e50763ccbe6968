import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { reasonOf } from '../disk/text-file.ts';
import type { NetworkOptions } from '../gateway/http/transport.ts';
import type { PemSource, Target } from '../model/config.ts';
import { AppError } from '../model/errors.ts';
import type { CliContext } from './context/cli-context.ts';

/**
 * Adds what the target says about certificates to the options of the network. Throws AppError for a text that cannot be read, is not PEM, or does not
 * fit the other one; no message contains it.
 */
export function withTargetTls(
  network: NetworkOptions | undefined,
  { name, tls }: Pick<Target, 'name' | 'tls'>,
  context: Pick<CliContext, 'env' | 'onEvent'>,
): NetworkOptions | undefined {
  if (tls === undefined) return network;
  const read = (field: string, source: PemSource | undefined): string =>
    source === undefined ? '' : readPem(source, { name, field, context });
  const [ca, cert, key] = [read('ca', tls.ca), read('client_certificate', tls.clientCertificate), read('client_key', tls.clientKey)];
  if (key !== '') context.onEvent?.({ secret: key });
  for (const [field, text] of [
    ['ca', ca],
    ['client_certificate', cert],
  ] as const)
    if (text !== '') usable(() => new X509Certificate(text), `${field} of the target "${name}" is not a certificate in PEM`);
  if (key !== '') {
    const own = usable(() => createPrivateKey(key), `client_key of the target "${name}" is not a private key in PEM without a passphrase`);
    if (!new X509Certificate(cert).checkPrivateKey(own))
      throw badPem(`client_key of the target "${name}" is not the key of client_certificate`);
  }
  const { certificates = [], ...rest } = network ?? {};
  return { ...rest, certificates: ca === '' ? certificates : [...certificates, ca], ...(cert === '' ? {} : { client: { cert, key } }) };
}

type PemPlace = { readonly name: string; readonly field: string; readonly context: Pick<CliContext, 'env'> };

function readPem(source: PemSource, { name, field, context }: PemPlace): string {
  if ('env' in source) {
    const text = context.env[source.env] ?? '';
    if (text !== '') return text;
    throw badPem(`${field} of the target "${name}" is empty: ${source.env} is not set`, `set ${source.env} to the PEM text`);
  }
  if (source.text !== undefined) return source.text;
  return usable(
    () => readFileSync(source.file, 'utf8'),
    (error) => `${JSON.stringify(source.file)}, ${field} of the target "${name}", cannot be read: ${reasonOf(error)}`,
  );
}

function usable<T>(work: () => T, problem: string | ((error: unknown) => string)): T {
  try {
    return work();
  } catch (error) {
    throw badPem(typeof problem === 'string' ? problem : problem(error));
  }
}

function badPem(message: string, hint = 'check the path or the variable that the config names'): AppError {
  return new AppError('api/bad-pem', 3, message, { hint });
}
