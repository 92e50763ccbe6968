import type { Diagnostic } from '../../../model/diagnostic.ts';
import type { PreflightRequest } from '../../../model/gateway.ts';
import { isObject, type Json } from '../../../model/json.ts';
import type { Handshake, Capabilities } from '../../dialect.ts';
import { proposedWrites } from '../shared/proposed-writes.ts';
import { checkGroups } from '../shared/groups.ts';
import { asArray } from '../shared/rest.ts';
import { checkTexts } from '../shared/check-texts.ts';

const roles = ['admin', 'auditor', 'standard'] as const;

/** Reads what the gateway says of itself; one that says nothing is taken as it is. */
export function readCapabilities({ serverInfo: hello }: Handshake): Capabilities {
  const body = hello.status === 200 && isObject(hello.body) ? hello.body : {};
  const role = roles.find((name) => name === body['role']);
  const ours = isOstiaryServer({ serverInfo: hello });
  const version = text(body['version']);
  const borrowed = asArray(body['borrowed_fields']).filter((name) => typeof name === 'string');
  const organisation = text(body['organisation']) ?? text(body['organization']);
  return {
    ...(organisation === undefined ? {} : { organisation }),
    ...(version === undefined ? {} : { version }),
    ...(role === undefined ? {} : { role }),
    ...(borrowed.length === 0 ? {} : { borrowed }),
    keepsHiddenSecrets: ours,
    keepsOmittedSecrets: ours,
    seesAll: role !== 'standard',
    seesSecrets: role === undefined || role === 'admin',
  };
}

/** Tells whether the gateway is one of `ostiary serve`. */
export function isOstiaryServer({ serverInfo: hello }: Pick<Handshake, 'serverInfo'>): boolean {
  return hello.server.startsWith('ostiary/');
}

/** What the gateway cannot keep, and what it keeps and nobody could use. */
export function preflight(proposal: PreflightRequest): readonly Diagnostic[] {
  return proposedWrites(proposal).flatMap((draft) => [
    ...checkTexts('interface/nul', draft),
    ...checkGroups('interface/unknown-group', draft, proposal.live.groups),
  ]);
}

function text(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
