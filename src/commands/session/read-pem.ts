import { createPrivateKey, X509Certificate } from 'node:crypto';
import { textReader } from '../../disk/text-file.ts';
import type { NetworkOptions } from '../../gateway/http/transport.ts';
import type { PemSource, Target } from '../../model/config.ts';
import { AppError } from '../../model/errors.ts';
import type { CliContext } from '../context/cli-context.ts';

/**
 * Adds what the target says about certificates to the options of the network. Throws AppError for a text that cannot be read, is not PEM, has ended, or
 * does not fit the other one; no message contains it.
 */
export function withTargetTls(
  network: NetworkOptions | undefined,
  { name, tls }: Pick<Target, 'name' | 'tls'>,
  context: Pick<CliContext, 'env' | 'onEvent' | 'now'>,
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
    if (/^(?:-----BEGIN ENCRYPTED|Proc-Type: 4,ENCRYPTED)/m.test(key))
      throw badPem(`client_key of the target "${name}" has a passphrase`, 'openssl pkey -in KEY -out NEW writes the key without it');
    const own = usable(() => createPrivateKey(key), `client_key of the target "${name}" is not a private key in PEM without a passphrase`);
    const certificate = new X509Certificate(cert);
    if (!certificate.checkPrivateKey(own)) throw badPem(`client_key of the target "${name}" is not the key of client_certificate`);
    const end = new Date(certificate.validTo);
    if (end <= context.now()) {
      const message = `client_certificate of the target "${name}" ended on ${end.toISOString().slice(0, 10)}`;
      throw badPem(message, 'renew it, or correct the clock of this machine');
    }
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
  const place = `${JSON.stringify(source.file)}, ${field} of the target "${name}",`;
  // No path can end the process, such as /dev/zero in a config of a repository.
  const read = source.text === undefined ? textReader()(source.file) : { text: source.text };
  if ('problem' in read) throw badPem(`${place} cannot be read: ${read.problem.reason}`);
  if (read.text.trim() === '') throw badPem(`${place} is empty`);
  return read.text;
}

function usable<T>(work: () => T, problem: string): T {
  try {
    return work();
  } catch {
    throw badPem(problem);
  }
}

function badPem(message: string, hint = 'check the path or the variable that the config names'): AppError {
  return new AppError('api/bad-pem', 3, message, { hint });
}
