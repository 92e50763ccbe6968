import type { Diagnostic } from '../../../model/diagnostic.ts';
import type { Proposal } from '../../../model/gateway.ts';
import { isObject, type Json } from '../../../model/json.ts';
import type { Answers, Introduction } from '../../dialect.ts';
import { draftsOf } from '../draft.ts';
import { groupProblems } from '../groups.ts';
import { listOf } from '../rest.ts';
import { textProblems } from '../texts.ts';

const roles = ['admin', 'auditor', 'standard'] as const;

/** Reads what the gateway says of itself; one that says nothing is taken as it is. */
export function introduce({ hello }: Answers): Introduction {
  const body = hello.status === 200 && isObject(hello.body) ? hello.body : {};
  const role = roles.find((name) => name === body['role']);
  const ours = isOurs({ hello });
  const version = text(body['version']);
  const borrowed = listOf(body['borrowed_fields']).filter((name) => typeof name === 'string');
  const organisation = text(body['organisation']) ?? text(body['organization']);
  return {
    ...(organisation === undefined ? {} : { organisation }),
    ...(version === undefined ? {} : { version }),
    ...(role === undefined ? {} : { role }),
    ...(borrowed.length === 0 ? {} : { borrowed }),
    keepsHidden: ours,
    keepsOmitted: ours,
    seesAll: role !== 'standard',
    seesSecrets: role === undefined || role === 'admin',
  };
}

/** Tells whether the gateway is one of `ostiary serve`. */
export function isOurs({ hello }: Pick<Answers, 'hello'>): boolean {
  return hello.server.startsWith('ostiary/');
}

/** What the gateway cannot keep, and what it keeps and nobody could use. */
export function preflight(proposal: Proposal): readonly Diagnostic[] {
  return draftsOf(proposal).flatMap((draft) => [
    ...textProblems('interface/nul', draft),
    ...groupProblems('interface/unknown-group', draft, proposal.live.groups),
  ]);
}

function text(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
