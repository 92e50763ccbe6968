import { generateKeyPairSync, sign } from 'node:crypto';

/** Creates a self-signed certificate for `localhost`, valid for the year around the time. */
export function selfSigned(now: Date): { readonly key: string; readonly cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ecdsaWithSha256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
  const name = sequence(der(0x31, sequence(oid(0x55, 0x04, 0x03), der(0x0c, Buffer.from('localhost')))));
  const valid = sequence(moment(now, -1), moment(now, 1));
  const version = der(0xa0, der(0x02, Buffer.from([2])));
  const key = publicKey.export({ type: 'spki', format: 'der' });
  const signed = sequence(version, der(0x02, Buffer.from([1])), ecdsaWithSha256, name, valid, name, key);
  const signature = der(0x03, Buffer.concat([Buffer.from([0]), sign('sha256', signed, privateKey)]));
  const base64 = sequence(signed, ecdsaWithSha256, signature).toString('base64');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${base64.replaceAll(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
  };
}

function der(tag: number, content: Buffer): Buffer {
  const size = content.length;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function oid(...bytes: readonly number[]): Buffer {
  return der(0x06, Buffer.from(bytes));
}

function moment(now: Date, months: number): Buffer {
  const shifted = new Date(now.getTime() + months * 30 * 86_400_000);
  return der(0x17, Buffer.from(`${shifted.toISOString().replaceAll(/[-:T]/g, '').slice(2, 14)}Z`));
}
