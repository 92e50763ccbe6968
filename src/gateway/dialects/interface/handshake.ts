import { isObject, nonEmptyText, textsIn } from '../../../model/json.ts';
import type { Capabilities, Handshake } from '../../dialect.ts';
import { readRole } from '../rest.ts';

/** Reads what the gateway reports about itself; a gateway that reports nothing is taken to have no restrictions. */
export function readCapabilities(handshake: Handshake): Capabilities {
  const { status, body } = handshake.serverInfo;
  const info = status === 200 && isObject(body) ? body : {};
  const role = readRole(info['role']);
  const isOstiary = isOstiaryServer(handshake);
  const version = nonEmptyText(info['version']);
  const borrowed = textsIn(info['borrowed_fields']);
  const longest = info['longest_access_duration'];
  const organisation = nonEmptyText(info['organisation']) ?? nonEmptyText(info['organization']);
  return {
    ...(organisation === undefined ? {} : { organisation }),
    ...(version === undefined ? {} : { version }),
    ...(role === undefined ? {} : { role }),
    ...(borrowed.length === 0 ? {} : { borrowed }),
    ...(typeof longest === 'number' ? { longestAccess: longest } : {}),
    keepsHiddenSecrets: isOstiary,
    keepsOmittedSecrets: isOstiary,
    seesAll: role !== 'standard',
    seesSecrets: role === undefined || role === 'admin',
  };
}

/** Returns whether the gateway is `ostiary serve`. */
export function isOstiaryServer({ serverInfo }: Handshake): boolean {
  const { body, server } = serverInfo;
  return (isObject(body) && body['name'] === 'ostiary') || server.startsWith('ostiary/');
}
